// Numbers and texts within fields: sign, digits, alignment.
#include "text/jinja_field.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

constexpr std::int64_t most_digits = 400;

std::string grouped(std::string digits, char separator) {
  const std::size_t point = std::min(digits.find_first_of(".e"), digits.size());
  for (std::size_t at = point; at > 3;) digits.insert(at -= 3, 1, separator);
  return digits;
}

std::string real_digits(double number, const Field& field) {
  const int digits = static_cast<int>(field.precision < 0 ? 6 : std::min(field.precision, most_digits));
  if (!std::isfinite(number)) return std::isnan(number) ? "nan" : "inf";
  if (field.type == 'f' || field.type == 'F') return fixed_text(number, digits);
  if (field.type == '%') return fixed_text(number * 100, digits) + "%";
  if (field.type == '\0' && field.precision < 0) return real_text(number);
  char buffer[512];
  const bool is_general = field.type != 'e' && field.type != 'E';
  const auto form = is_general ? std::chars_format::general : std::chars_format::scientific;
  const auto end =
      std::to_chars(buffer, buffer + sizeof buffer, number, form, is_general ? std::max(digits, 1) : digits).ptr;
  return {buffer, end};
}

std::string whole_digits(std::uint64_t magnitude, const Field& field) {
  const char type = static_cast<char>(field.type | 0x20);
  const int radix = type == 'x' ? 16 : type == 'o' ? 8 : type == 'b' ? 2 : 10;
  char buffer[72];
  std::string digits(buffer, std::to_chars(buffer, buffer + sizeof buffer, magnitude, radix).ptr);
  if (field.alternate && radix != 10) digits = std::string{'0', type} + digits;
  return digits;
}

}  // namespace

TextRef number_field(const Machine& machine, const Value& value, Field field) {
  const bool wants_real = field.type != '\0' && std::string_view("eEfFgG%").find(field.type) != std::string_view::npos;
  std::string digits;
  bool negative;
  if (value.is(Type::real) || wants_real) {
    negative = std::signbit(value.number());
    digits = real_digits(std::abs(value.number()), field);
  } else {
    negative = value.whole() < 0;
    digits = whole_digits(
        negative ? 0 - static_cast<std::uint64_t>(value.whole()) : static_cast<std::uint64_t>(value.whole()), field);
  }
  if (field.grouping) digits = grouped(digits, field.grouping);
  if (field.type == 'X' || field.type == 'E' || field.type == 'G') {
    std::transform(digits.begin(), digits.end(), digits.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  }
  const std::string sign = negative ? "-" : field.sign == '-' ? "" : std::string(1, field.sign);
  if (field.align == '=') {
    const TextRef text = Text::copy(machine.arena, digits, value.origin);
    const TextRef filled =
        padded(machine, text, field.width - static_cast<std::int64_t>(sign.size()), Side::left, field.filling);
    return Text::join(machine.arena, Text::copy(machine.arena, sign, value.origin), filled);
  }
  const TextRef text = Text::copy(machine.arena, sign + digits, value.origin);
  const Side side = field.align == '<' ? Side::right : field.align == '^' ? Side::both : Side::left;
  return padded(machine, text, field.width, side, field.filling);
}

TextRef text_field(const Machine& machine, TextRef text, const Field& field) {
  if (field.precision >= 0) {
    const std::size_t end = byte_offset(machine.bytes(text), static_cast<std::size_t>(field.precision));
    text = Text::slice(machine.arena, text, 0, end);
  }
  const Side side = field.align == '>' || field.align == '=' ? Side::left
                    : field.align == '^'                     ? Side::both
                                                             : Side::right;
  return padded(machine, text, field.width, side, field.filling);
}

std::string fixed_text(double number, int digits) {
  std::string text(static_cast<std::size_t>(320 + digits), '\0');
  text.resize(static_cast<std::size_t>(
      std::to_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed, digits).ptr -
      text.data()));
  return text;
}

}  // namespace inlay::text::jinja
