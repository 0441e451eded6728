// The filters for texts, and the search through all filters.
#include <algorithm>

#include "base/utf8.hpp"
#include "text/jinja_builtins.hpp"
#include "text/jinja_format.hpp"
#include "text/jinja_json.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

// A filter's result: text that is as safe as what it was made from.
Value like(In value, TextRef text) {
  Value result = Value::of(text);
  result.safe = value.safe;
  return result;
}

bool is_word(char32_t code) {
  return (code >= '0' && code <= '9') || (code >= 'A' && code <= 'Z') || (code >= 'a' && code <= 'z') || code == '_';
}

template <Case wanted>
Value cased(On machine, In value, With) {
  return like(value, in_case(machine, printed(machine, value), wanted));
}

Value trim(On machine, In value, With with) {
  const Bound bound("trim", with, {"chars"});
  return like(value, stripped(machine, printed(machine, value), bound.text_or_null(0), Side::both));
}

Value replace(On machine, In value, With with) {
  const Bound bound("replace", with, {"old", "new", "count"}, 2);
  return Value::of(replaced(machine, printed(machine, value), printed(machine, bound[0]), printed(machine, bound[1]),
                            bound.whole(2, -1)));
}

Value string(On machine, In value, With) { return like(value, printed(machine, value)); }

Value safe(On machine, In value, With) {
  Value result = Value::of(printed(machine, value));
  result.safe = true;
  return result;
}

Value force_escape(On machine, In value, With with) {
  return safe(machine, Value::of(html_escaped(machine, printed(machine, value))), with);
}

Value escape(On machine, In value, With with) { return value.safe ? value : force_escape(machine, value, with); }

// What only texts can be asked for.
void demand_text(std::string_view filter, In value) {
  if (value.is(Type::string)) return;
  fail(value.is(Type::undefined) ? Trouble::undefined : Trouble::type,
       std::string(filter) + " takes a string, not a value that is " + std::string(type_name(value)));
}

Value indent(On machine, In value, With with) {
  const Bound bound("indent", with, {"width", "first", "blank"});
  demand_text("indent", value);
  const bool by_text = bound.has(0) && bound[0].is(Type::string);
  const TextRef empty = Text::flat(machine.arena, {}, Origin::template_text);
  const TextRef margin = by_text ? bound[0].text : padded(machine, empty, bound.whole(0, 4), Side::left);
  const TextRef newline = Text::flat(machine.arena, "\n", Origin::template_text);
  const List* lines = split_lines(machine, Text::join(machine.arena, value.text, newline), false);
  TextRef result = bound.truth(machine, 1) ? margin : empty;
  for (std::size_t i = 0; i < lines->size(); ++i) {
    const TextRef line = (*lines)[i].text;
    if (i > 0) result = Text::join(machine.arena, result, newline);
    if (i > 0 && (!line->empty() || bound.truth(machine, 2))) result = Text::join(machine.arena, result, margin);
    result = Text::join(machine.arena, result, line);
  }
  return like(value, result);
}

Value center(On machine, In value, With with) {
  const Bound bound("center", with, {"width"});
  return like(value, padded(machine, printed(machine, value), bound.whole(0, 80), Side::both));
}

Value format(On machine, In value, With with) {
  if (!with.positional.empty() && !with.named.empty()) {
    fail(Trouble::type, "format takes either positional or named arguments");
  }
  Value values = Value::of(machine.new_list(), Type::tuple);
  for (const Value& each : with.positional) values.items->append(machine.arena, each);
  if (!with.named.empty()) values = Value::of(machine.arena.make<Dict>());
  for (const auto& [name, each] : with.named) values.dict->set(machine.arena, machine.text(name), each);
  return percent_format(machine, like(value, printed(machine, value)), values);
}

Value truncate(On machine, In value, With with) {
  const Bound bound("truncate", with, {"length", "killwords", "end", "leeway"});
  const TextRef end = bound.has(2) ? bound.text(2) : Text::flat(machine.arena, "...", Origin::template_text);
  const std::int64_t length = bound.whole(0, 255), leeway = bound.whole(3, 5);
  const auto end_size = static_cast<std::int64_t>(code_point_count(machine.bytes(end)));
  if (length < end_size || leeway < 0) fail(Trouble::type, "truncate is given lengths that do not fit");
  if (static_cast<std::int64_t>(machine.length(value)) - leeway <= length) return value;
  demand_text("truncate", value);
  const TextRef text = value.text;
  const std::size_t cut = byte_offset(machine.bytes(text), static_cast<std::size_t>(length - end_size));
  const std::size_t blank = machine.bytes(text).substr(0, cut).rfind(' ');
  const bool kills_words = bound.truth(machine, 1) || blank == std::string_view::npos;
  return like(value, Text::join(machine.arena, Text::slice(machine.arena, text, 0, kills_words ? cut : blank), end));
}

Value word_count(On machine, In value, With) {
  const std::string_view bytes = machine.bytes(printed(machine, value));
  machine.budget().work_on_characters(bytes.size());
  std::int64_t words = 0;
  bool within = false;
  for (std::size_t at = 0; at < bytes.size(); at += code_point_size(bytes[at])) {
    const char32_t code = base::decode_utf8(bytes.substr(at)).code;
    const bool is_letter = code >= 0x80 ? !is_space(code) : is_word(code);
    words += is_letter && !within;
    within = is_letter;
  }
  return Value::of(words);
}

Value url_encode(On machine, In value, With) {
  if (!value.is(Type::string) && !value.is_number()) demand_text("urlencode", value);
  const TextRef text = printed(machine, value);
  std::string encoded;
  for (const char byte : machine.bytes(text)) {
    const bool plain =
        is_word(static_cast<unsigned char>(byte)) || std::string_view(".-~/").find(byte) != std::string_view::npos;
    if (plain) {
      encoded += byte;
    } else {
      const auto code = static_cast<unsigned char>(byte);
      encoded += {'%', "0123456789ABCDEF"[code >> 4], "0123456789ABCDEF"[code & 15]};
    }
  }
  return machine.text(encoded, text->origin(machine.arena));
}

Value standard(On machine, In value, With with) {
  const Bound bound("default", with, {"default_value", "boolean"});
  const bool replaces = value.is(Type::undefined) || (bound.truth(machine, 1) && !machine.truth(value));
  if (!replaces) return value;
  return bound.has(0) ? bound[0] : machine.text("");
}

Value length(On machine, In value, With) { return Value::size(machine.length(value)); }

// Python's: a text as it is, or so many spaces.
std::string indent_of(On machine, const Bound& bound) {
  if (bound[1].is(Type::string)) return std::string(machine.bytes(bound[1].text));
  const auto width = static_cast<std::uint64_t>(std::max<std::int64_t>(bound.whole(1, 0), 0));
  if (width > machine.budget().limits().output) fail(Trouble::limit, "an indent is larger than the output limit");
  return std::string(width, ' ');
}

Value json_text(On machine, In value, With with) {
  const Bound bound("tojson", with, {"ensure_ascii", "indent", "separators", "sort_keys"});
  JsonStyle style;
  if (bound.has(1) && !bound[1].is(Type::none)) style.indent = indent_of(machine, bound);
  style.item_separator = style.indent ? "," : ", ";
  if (bound.has(2) && !bound[2].is(Type::none)) {
    const List& separators = machine.items(bound[2]);
    if (separators.size() != 2 || !separators[0].is(Type::string) || !separators[1].is(Type::string)) {
      fail(Trouble::type, "tojson takes two texts as separators");
    }
    style.item_separator = machine.bytes(separators[0].text);
    style.key_separator = machine.bytes(separators[1].text);
  }
  style.ascii_only = bound.truth(machine, 0);
  style.sort_keys = bound.truth(machine, 3);
  return Value::of(to_json(machine, value, style));
}

Value parse_json(On machine, In value, With) {
  demand_text("from_json", value);
  return from_json(machine, machine.bytes(value.text), value.text->origin(machine.arena), "what from_json is given");
}

constexpr FilterEntry filters[] = {
    {"capitalize", cased<Case::capitalized>},
    {"center", center},
    {"count", length},
    {"d", standard},
    {"default", standard},
    {"e", escape},
    {"escape", escape},
    {"forceescape", force_escape},
    {"format", format},
    {"from_json", parse_json},
    {"indent", indent},
    {"length", length},
    {"lower", cased<Case::lower>},
    {"replace", replace},
    {"safe", safe},
    {"string", string},
    {"title", cased<Case::words>},
    {"tojson", json_text},
    {"trim", trim},
    {"truncate", truncate},
    {"upper", cased<Case::upper>},
    {"urlencode", url_encode},
    {"wordcount", word_count},
};

}  // namespace

std::span<const FilterEntry> text_filters() { return filters; }

const FilterEntry* find_filter(std::string_view name) {
  for (const auto table : {text_filters(), number_filters(), list_filters(), order_filters()}) {
    for (const FilterEntry& entry : table) {
      if (entry.name == name) return &entry;
    }
  }
  return nullptr;
}

}  // namespace inlay::text::jinja
