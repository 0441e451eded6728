// Both kinds of patterns are cut into fields here.
#include "text/jinja_format.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "text/jinja_field.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

// Reads a number at the front of `pattern`.
std::int64_t take_number(std::string_view& pattern) {
  std::int64_t number = 0;
  const auto read = std::from_chars(pattern.data(), pattern.data() + pattern.size(), number);
  if (read.ec == std::errc::result_out_of_range) fail(Trouble::limit, "a width in a format is too large");
  pattern.remove_prefix(static_cast<std::size_t>(read.ptr - pattern.data()));
  return number;
}

Field percent_field(std::string_view& pattern) {
  Field field{.align = '>'};
  for (; !pattern.empty() && std::string_view("-+ 0#").find(pattern[0]) != pattern.npos; pattern.remove_prefix(1)) {
    if (pattern[0] == '-') field.align = '<';
    if (pattern[0] == '+' || (pattern[0] == ' ' && field.sign != '+')) field.sign = pattern[0];
    if (pattern[0] == '#') field.alternate = true;
    if (pattern[0] == '0' && field.align != '<') field.align = '=', field.filling = "0";
  }
  if (field.align == '<') field.filling = " ";
  field.width = take_number(pattern);
  if (pattern.starts_with('.')) {
    pattern.remove_prefix(1);
    field.precision = take_number(pattern);
  }
  while (!pattern.empty() && std::string_view("hlL").find(pattern[0]) != pattern.npos) pattern.remove_prefix(1);
  if (pattern.empty()) fail(Trouble::type, "a % format is incomplete");
  field.type = pattern[0];
  pattern.remove_prefix(1);
  return field;
}

TextRef percent_value(const Machine& machine, const Value& value, Field field) {
  switch (field.type) {
    case 's':
    case 'r':
    case 'a':
      if (field.align == '=') field.align = '>', field.filling = " ";
      return text_field(machine, field.type == 's' ? printed(machine, value) : represented(machine, value), field);
    case 'c':
      if (value.is(Type::string) && machine.length(value) == 1) return text_field(machine, value.text, field);
      fail(Trouble::type, "%c takes one character");
    case 'd':
    case 'i':
    case 'u': {
      if (!value.is_number()) fail(Trouble::type, "%d takes a number, not a " + std::string(type_name(value)));
      Value whole = value;
      if (value.is(Type::real)) {
        if (!(std::abs(value.real) < 9e18)) fail(Trouble::arithmetic, "a number does not fit into 64 bits");
        whole = Value::of(static_cast<std::int64_t>(value.real));
      }
      return number_field(machine, whole, field);
    }
    case 'x':
    case 'X':
    case 'o':
      if (!value.is_whole()) fail(Trouble::type, "%x takes an integer");
      return number_field(machine, value, field);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
      if (!value.is_number()) fail(Trouble::type, "%f takes a number, not a " + std::string(type_name(value)));
      return number_field(machine, value, field);
    default: fail(Trouble::type, "a % format has an unknown letter");
  }
}

// The name in %(name)s.
std::optional<std::string_view> percent_name(std::string_view& pattern) {
  if (!pattern.starts_with('(')) return std::nullopt;
  const std::size_t close = pattern.find(')');
  if (close == pattern.npos) fail(Trouble::type, "a name in a % format is not closed");
  const std::string_view name = pattern.substr(1, close - 1);
  pattern.remove_prefix(close + 1);
  return name;
}

Value named_value(const Machine& machine, const Value& values, std::string_view name) {
  if (!values.is(Type::dict)) fail(Trouble::type, "a % format with names needs a dict");
  const Value* found = values.dict->find(machine.arena, name);
  if (!found) fail(Trouble::undefined, "a % format names a key that is missing");
  return *found;
}

Value next_value(const Value& values, std::size_t& used) {
  const std::size_t available = values.is(Type::tuple) ? values.items->size() : 1;
  if (used >= available) fail(Trouble::type, "a % format needs more values");
  const std::size_t at = used++;
  return values.is(Type::tuple) ? (*values.items)[at] : values;
}

Field brace_field(std::string_view specification) {
  Field field;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  const std::size_t first = specification.empty() ? 0 : code_point_size(specification[0]);
  if (specification.size() > first && first > 0 && is_align(specification[first])) {
    field.filling = specification.substr(0, first);
    field.align = specification[first];
    specification.remove_prefix(first + 1);
  } else if (!specification.empty() && is_align(specification[0])) {
    field.align = specification[0];
    specification.remove_prefix(1);
  }
  const auto take = [&](std::string_view any) {
    if (specification.empty() || any.find(specification[0]) == any.npos) return '\0';
    const char taken = specification[0];
    specification.remove_prefix(1);
    return taken;
  };
  if (const char sign = take("+- ")) field.sign = sign;
  field.alternate = take("#") != '\0';
  if (take("0") && field.align == '\0') field.align = '=', field.filling = "0";
  field.width = take_number(specification);
  field.grouping = take(",_");
  if (take(".")) field.precision = take_number(specification);
  field.type = take("bcdeEfFgGnosxX%");
  if (!specification.empty()) fail(Trouble::type, "a format specification is malformed");
  return field;
}

TextRef brace_value(const Machine& machine, const Value& value, std::string_view specification) {
  if (specification.empty()) return printed(machine, value);
  const Field field = brace_field(specification);
  if (value.is_number() && !(value.is(Type::boolean) && field.type == '\0')) return number_field(machine, value, field);
  if (!value.is(Type::string) && !value.is(Type::boolean)) {
    fail(Trouble::type, "a format specification fits only numbers and strings");
  }
  return text_field(machine, printed(machine, value), field);
}

// What a field's name stands for: "0", "name", "0.attribute", "name[key]".
Value brace_lookup(const Machine& machine, const Arguments& arguments, std::string_view path, std::size_t& automatic) {
  const std::size_t end = std::min(path.find_first_of(".["), path.size());
  std::string_view name = path.substr(0, end), rest = path.substr(end);
  Value value;
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) {
    const std::size_t at = name.empty() ? automatic++ : static_cast<std::size_t>(take_number(name));
    if (at >= arguments.positional.size()) fail(Trouble::type, "format() has fewer arguments than its pattern needs");
    value = arguments.positional[at];
  } else {
    const auto found = std::find_if(arguments.named.begin(), arguments.named.end(),
                                    [&](const auto& each) { return each.first == name; });
    if (found == arguments.named.end()) fail(Trouble::undefined, "format() misses an argument that its pattern names");
    value = found->second;
  }
  while (!rest.empty()) {
    const bool is_key = rest[0] == '[';
    const std::size_t stop = is_key ? rest.find(']') : std::min(rest.find_first_of(".[", 1), rest.size());
    if (stop == rest.npos || stop < 2) fail(Trouble::type, "a field of a format is malformed");
    std::string_view part = rest.substr(1, stop - 1);
    rest.remove_prefix(is_key ? stop + 1 : stop);
    const bool is_index = is_key && part.find_first_not_of("0123456789") == part.npos;
    value = is_index ? machine.element(value, Value::of(take_number(part)))
            : is_key ? machine.element(value, machine.text(part))
                     : machine.attribute(value, Text::copy(machine.arena, part, Origin::template_text));
  }
  return value;
}

}  // namespace

Value percent_format(const Machine& machine, const Value& pattern, const Value& values) {
  const std::string_view all = machine.bytes(pattern.text);
  std::string_view rest = all;
  TextBuilder result(machine.arena);
  std::size_t used = 0;
  while (true) {
    const std::size_t mark = std::min(rest.find('%'), rest.size());
    const std::size_t begin = all.size() - rest.size();
    result.append(pattern.text, begin, begin + mark);
    rest.remove_prefix(mark);
    if (rest.empty()) break;
    rest.remove_prefix(1);
    const std::optional<std::string_view> name = percent_name(rest);
    const Field field = percent_field(rest);
    if (field.type == '%') {
      result.append("%", Origin::template_text);
      continue;
    }
    const Value value = name ? named_value(machine, values, *name) : next_value(values, used);
    const TextRef text = percent_value(machine, value, field);
    result.append(pattern.safe ? html_escaped(machine, text) : text);
  }
  // What can be asked for parts may be a mapping of names, which need not all be used.
  const bool has_names = values.is(Type::dict) || values.is(Type::list) || values.is(Type::undefined);
  if (values.is(Type::tuple) ? used < values.items->size() : used == 0 && !has_names) {
    fail(Trouble::type, "a % format has values that it does not use");
  }
  Value formatted = Value::of(result.finish());
  formatted.safe = pattern.safe;
  return formatted;
}

Value brace_format(const Machine& machine, const Value& pattern, const Arguments& arguments) {
  const std::string_view all = machine.bytes(pattern.text);
  TextBuilder result(machine.arena);
  std::size_t automatic = 0;
  for (std::size_t at = 0; at < all.size();) {
    const std::size_t mark = std::min(all.find_first_of("{}", at), all.size());
    result.append(pattern.text, at, mark);
    if (mark == all.size()) break;
    if (mark + 1 < all.size() && all[mark + 1] == all[mark]) {
      result.append(pattern.text, mark, mark + 1);
      at = mark + 2;
      continue;
    }
    const std::size_t close = all.find('}', mark);
    if (all[mark] == '}' || close == all.npos) fail(Trouble::type, "a brace of a format is not closed");
    std::string_view field = all.substr(mark + 1, close - mark - 1);
    const std::size_t colon = std::min(field.find(':'), field.size());
    std::string_view path = field.substr(0, colon);
    const std::size_t conversion = std::min(path.find('!'), path.size());
    Value value = brace_lookup(machine, arguments, path.substr(0, conversion), automatic);
    if (path.substr(conversion) == "!r") value = Value::of(represented(machine, value));
    if (path.substr(conversion) == "!s") value = Value::of(printed(machine, value));
    TextRef text = brace_value(machine, value, colon == field.size() ? std::string_view{} : field.substr(colon + 1));
    result.append(pattern.safe ? html_escaped(machine, text) : text);
    at = close + 1;
  }
  Value formatted = Value::of(result.finish());
  formatted.safe = pattern.safe;
  return formatted;
}

}  // namespace inlay::text::jinja
