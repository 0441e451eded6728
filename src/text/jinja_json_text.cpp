// Values as JSON.
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/utf8.hpp"
#include "text/jinja_print.hpp"

namespace inlay::text::jinja {
namespace {

std::string json_escape(char32_t code, bool ascii_only) {
  static constexpr std::u32string_view special = U"\"\\\n\r\t\f\b";
  if (const std::size_t known = special.find(code); known != special.npos) return {'\\', "\"\\nrtfb"[known]};
  if (code >= 0x20 && !(ascii_only && code >= 0x7F)) return {};
  if (code < 0x10000) return "\\u" + hexadecimal(code, 4);
  const char32_t pair = code - 0x10000;
  return "\\u" + hexadecimal(0xD800 + (pair >> 10), 4) + "\\u" + hexadecimal(0xDC00 + (pair & 0x3FF), 4);
}

class JsonWriter {
 public:
  JsonWriter(const Machine& machine, const JsonStyle& style, Origin origin)
      : machine_(machine), style_(style), out_(machine.arena), origin_(origin) {}

  TextRef finish() { return out_.finish(); }

  void write(const Value& value, int depth) {
    check_depth(machine_.arena, depth);
    switch (value.type) {
      case Type::none: return put("null");
      case Type::boolean: return put(value.boolean ? "true" : "false");
      case Type::integer: return put(std::to_string(value.integer));
      case Type::huge: return put(machine_.bytes(value.text));
      case Type::real:
        return put(std::isnan(value.real)    ? "NaN"
                   : !std::isinf(value.real) ? real_text(value.real)
                   : value.real > 0          ? "Infinity"
                                             : "-Infinity");
      case Type::string: return write_string(machine_.bytes(value.text));
      case Type::list:
      case Type::tuple: return write_list(*value.items, depth);
      case Type::dict: return write_dict(*value.dict, depth);
      default:
        fail(value.is(Type::undefined) ? Trouble::undefined : Trouble::type,
             "JSON has no form for a value that is " + std::string(type_name(value)));
    }
  }

 private:
  void put(std::string_view bytes) { out_.append(bytes, origin_); }

  void new_line(int depth) {
    if (!style_.indent) return;
    put("\n");
    for (int level = 0; level < depth; ++level) put(*style_.indent);
  }

  void write_list(const List& list, int depth) {
    if (list.empty()) return put("[]");
    put("[");
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i > 0) put(style_.item_separator);
      new_line(depth + 1);
      write(list[i], depth + 1);
    }
    new_line(depth);
    put("]");
  }

  void write_dict(const Dict& dict, int depth) {
    if (dict.size() == 0) return put("{}");
    std::vector<const Dict::Entry*> entries;
    for (const auto& entry : dict.entries()) entries.push_back(&entry);
    if (style_.sort_keys) {
      std::stable_sort(entries.begin(), entries.end(), [&](const Dict::Entry* a, const Dict::Entry* b) {
        return compare(machine_.arena, a->key, b->key) < 0;
      });
    }
    put("{");
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (i > 0) put(style_.item_separator);
      new_line(depth + 1);
      write_key(entries[i]->key, depth);
      put(style_.key_separator);
      write(entries[i]->value, depth + 1);
    }
    new_line(depth);
    put("}");
  }

  void write_key(const Value& key, int depth) {
    if (key.is(Type::string)) return write_string(machine_.bytes(key.text));
    if (!key.is_number() && !key.is(Type::none)) fail(Trouble::type, "the keys of a JSON object must be strings");
    put("\"");
    write(key, depth);
    put("\"");
  }

  void write_string(std::string_view bytes) {
    machine_.budget().work_on_characters(bytes.size());
    put("\"");
    for (std::size_t at = 0; at < bytes.size();) {
      const auto character = base::decode_utf8(bytes.substr(at));
      const std::string escape = json_escape(character.code, style_.ascii_only);
      put(escape.empty() ? bytes.substr(at, character.size) : escape);
      at += character.size;
    }
    put("\"");
  }

  const Machine& machine_;
  const JsonStyle& style_;
  TextBuilder out_;
  Origin origin_;
};

}  // namespace

TextRef to_json(const Machine& machine, const Value& value, const JsonStyle& style) {
  JsonWriter writer(machine, style, origin_of(machine, value));
  writer.write(value, 0);
  return writer.finish();
}

}  // namespace inlay::text::jinja
