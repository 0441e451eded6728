// Python's printed forms. Text made from several strings has the origin of all of them.
#include "text/jinja_print.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/utf8.hpp"

namespace inlay::text::jinja {
namespace {

// Whether Python's repr() leaves the character as it is. Without tables of the whole of Unicode: controls, odd spaces,
// surrogates and private use are escaped, unassigned code points are not.
bool is_printable(char32_t code) {
  if (code < 0x7F) return code >= 0x20;
  if (code <= 0xA0 || code == 0xAD) return false;
  if (code >= 0xE000 && code <= 0xF8FF) return false;
  if (code >= 0x200B && code <= 0x200F) return false;
  if ((code >= 0x202A && code <= 0x202E) || (code >= 0x2060 && code <= 0x206F)) return false;
  return code != 0xFEFF && !is_space(code) && code < 0xE0000;
}

// What stands for the character within quotes; empty where it stands for itself.
std::string python_escape(char32_t code) {
  switch (code) {
    case U'\n': return "\\n";
    case U'\r': return "\\r";
    case U'\t': return "\\t";
    case U'\\': return "\\\\";
    default: break;
  }
  if (is_printable(code)) return {};
  return code < 0x100     ? "\\x" + hexadecimal(code, 2)
         : code < 0x10000 ? "\\u" + hexadecimal(code, 4)
                          : "\\U" + hexadecimal(code, 8);
}

class PythonWriter {
 public:
  PythonWriter(const Machine& machine, Origin origin) : machine_(machine), out_(machine.arena), origin_(origin) {}

  TextRef finish() { return out_.finish(); }

  void write(const Value& value, int depth) {
    check_depth(machine_.arena, depth);
    switch (value.type) {
      case Type::undefined: return put("Undefined");
      case Type::none: return put("None");
      case Type::boolean: return put(value.boolean ? "True" : "False");
      case Type::integer: return put(std::to_string(value.integer));
      case Type::huge: return put(machine_.bytes(value.text));
      case Type::real: return put(real_text(value.real));
      case Type::string:
        return value.safe ? (put("Markup("), write_string(machine_.bytes(value.text)), put(")"))
                          : write_string(machine_.bytes(value.text));
      case Type::list: return write_items(value, "[", "]", depth);
      case Type::tuple: return write_items(value, "(", value.items->size() == 1 ? ",)" : ")", depth);
      case Type::view: return write_items(value, "dict_view([", "])", depth);
      case Type::dict: return write_dict(*value.dict, "{", "}", depth);
      case Type::space: return write_dict(*value.dict, "<Namespace {", "}>", depth);
      case Type::range: return write_range(*value.range);
      default: return put("<" + std::string(type_name(value)) + ">");
    }
  }

 private:
  void put(std::string_view bytes) { out_.append(bytes, origin_); }

  void write_items(const Value& value, std::string_view open, std::string_view close, int depth) {
    put(open);
    for (std::size_t i = 0; i < value.items->size(); ++i) {
      if (i > 0) put(", ");
      write((*value.items)[i], depth + 1);
    }
    put(close);
  }

  void write_dict(const Dict& dict, std::string_view open, std::string_view close, int depth) {
    put(open);
    for (std::size_t i = 0; i < dict.size(); ++i) {
      if (i > 0) put(", ");
      write(dict.entries()[i].key, depth + 1);
      put(": ");
      write(dict.entries()[i].value, depth + 1);
    }
    put(close);
  }

  void write_range(const Range& range) {
    put("range(" + std::to_string(range.start) + ", " + std::to_string(range.stop));
    if (range.step != 1) put(", " + std::to_string(range.step));
    put(")");
  }

  void write_string(std::string_view bytes) {
    machine_.budget().work_on_characters(bytes.size());
    const bool doubles = bytes.find('\'') != bytes.npos && bytes.find('"') == bytes.npos;
    const std::string_view quote = doubles ? "\"" : "'";
    put(quote);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto character = base::decode_utf8(bytes.substr(at));
      const std::string escape =
          bytes.substr(at, 1) == quote ? "\\" + std::string(quote) : python_escape(character.code);
      put(escape.empty() ? bytes.substr(at, character.size) : escape);
      at += character.size;
    }
    put(quote);
  }

  const Machine& machine_;
  TextBuilder out_;
  Origin origin_;
};

}  // namespace

std::string hexadecimal(char32_t code, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[code >> shift & 15];
  return text;
}

std::string real_text(double number) {
  if (std::isnan(number)) return "nan";
  if (std::isinf(number)) return number < 0 ? "-inf" : "inf";
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number, std::chars_format::scientific).ptr;
  const std::string_view scientific(buffer, static_cast<std::size_t>(end - buffer));
  const std::size_t mark = scientific.find('e');
  int exponent = 0;
  std::from_chars(buffer + mark + (scientific[mark + 1] == '+' ? 2 : 1), end, exponent);
  if (exponent < -4 || exponent >= 16) return std::string(scientific);  // already in Python's form: 1e+20, 1.5e-07
  char plain[64];
  const auto plain_end = std::to_chars(plain, plain + sizeof plain, number, std::chars_format::fixed).ptr;
  std::string text(plain, plain_end);
  return text.find('.') == text.npos ? text + ".0" : text;
}

Origin origin_of(const Machine& machine, const Value& value, int depth) {
  check_depth(machine.arena, depth);
  Origin all = value.origin;
  if (value.is(Type::string)) return value.text->origin(machine.arena);
  if (value.has_items()) {
    for (const Value& item : *value.items) all = mixed(all, origin_of(machine, item, depth + 1));
  } else if (value.is(Type::dict) || value.is(Type::space)) {
    for (const auto& entry : value.dict->entries()) {
      all = mixed(all, mixed(origin_of(machine, entry.key, depth + 1), origin_of(machine, entry.value, depth + 1)));
    }
  }
  return all;
}

TextRef represented(const Machine& machine, const Value& value) {
  PythonWriter writer(machine, origin_of(machine, value));
  writer.write(value, 0);
  return writer.finish();
}

TextRef printed(const Machine& machine, const Value& value) {
  if (value.is(Type::string)) return value.text;
  if (value.is(Type::undefined)) return Text::flat(machine.arena, {}, Origin::template_text);
  return represented(machine, value);
}

}  // namespace inlay::text::jinja
