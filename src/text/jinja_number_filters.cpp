// The filters for numbers.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include "text/jinja_builtins.hpp"
#include "text/jinja_field.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

// The digits of a number within a text, without white space, a leading plus and single underscores between digits.
std::string number_digits(On machine, TextRef text) {
  std::string digits;
  const std::string_view bytes = machine.bytes(stripped(machine, text, nullptr, Side::both));
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (bytes[i] == '_' && i > 0 && bytes[i - 1] != '_' && i + 1 < bytes.size()) continue;
    if (bytes[i] == '+' && i == 0) continue;
    digits += bytes[i];
  }
  return digits;
}

template <class Number, class... Radix>
std::optional<Number> parsed(std::string_view digits, Radix... radix) {
  Number number{};
  const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), number, radix...);
  if (digits.empty() || read.ec != std::errc{} || read.ptr != digits.data() + digits.size()) return std::nullopt;
  return number;
}

std::optional<std::int64_t> truncated(double number) {
  if (!(std::abs(number) < 9.2e18)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

Value to_int(On machine, In value, With with) {
  const Bound bound("int", with, {"default", "base"});
  if (value.is(Type::undefined)) fail(Trouble::undefined, "an undefined value has no integer");
  std::optional<std::int64_t> number;
  Origin origin = value.origin;
  if (value.is_number()) number = value.is(Type::real) ? truncated(value.real) : value.whole();
  if (value.is(Type::string)) {
    std::string digits = number_digits(machine, value.text);
    origin = value.text->origin(machine.arena);
    const std::int64_t radix = bound.whole(1, 10);
    if (radix < 2 || radix > 36) fail(Trouble::type, "int is given a base that no number has");
    const std::string mark = radix == 16 ? "0x" : radix == 8 ? "0o" : radix == 2 ? "0b" : "-";
    if (mark != "-" && digits.starts_with(mark)) digits.erase(0, 2);
    number = parsed<std::int64_t>(digits, static_cast<int>(radix));
    if (const auto real = number ? std::nullopt : parsed<double>(digits)) number = truncated(*real);
  }
  if (!number) return bound.has(0) ? bound[0] : Value::of(std::int64_t{0});
  Value result = Value::of(*number);
  result.origin = origin;
  return result;
}

Value to_float(On machine, In value, With with) {
  const Bound bound("float", with, {"default"});
  if (value.is(Type::undefined)) fail(Trouble::undefined, "an undefined value has no number");
  std::optional<double> number;
  if (value.is_number()) number = value.number();
  if (value.is(Type::string)) number = parsed<double>(number_digits(machine, value.text));
  if (!number) return bound.has(0) ? bound[0] : Value::of(0.0);
  Value result = Value::of(*number);
  result.origin = origin_of(machine, value);
  return result;
}

void check_number(In value, std::string_view filter) {
  if (!value.is_number()) {
    fail(value.is(Type::undefined) ? Trouble::undefined : Trouble::type,
         std::string(filter) + " takes a number, not a value that is " + std::string(type_name(value)));
  }
}

Value absolute(On, In value, With) {
  check_number(value, "abs");
  if (value.is(Type::real)) return Value::of(std::abs(value.real));
  if (value.whole() == INT64_MIN) fail(Trouble::arithmetic, "a number does not fit into 64 bits");
  return Value::of(std::abs(value.whole()));
}

Value round(On machine, In value, With with) {
  const Bound bound("round", with, {"precision", "method"});
  check_number(value, "round");
  const auto precision = static_cast<int>(std::clamp<std::int64_t>(bound.whole(0, 0), -300, 300));
  const std::string_view method = bound.has(1) ? machine.bytes(bound.text(1)) : "common";
  const double scale = std::pow(10.0, precision);
  if (method == "ceil") return Value::of(std::ceil(value.number() * scale) / scale);
  if (method == "floor") return Value::of(std::floor(value.number() * scale) / scale);
  if (method != "common") fail(Trouble::type, "round knows the methods common, ceil and floor");
  if (value.is_whole() && precision >= 0) return Value::of(value.whole());
  if (!std::isfinite(value.number())) return value;
  if (precision < 0) {
    const double rounded = std::nearbyint(value.number() * scale) / scale;
    return value.is_whole() ? Value::of(static_cast<std::int64_t>(rounded)) : Value::of(rounded);
  }
  return Value::of(parsed<double>(fixed_text(value.real, precision)).value_or(value.real));
}

constexpr FilterEntry filters[] = {{"abs", absolute}, {"float", to_float}, {"int", to_int}, {"round", round}};

}  // namespace

std::span<const FilterEntry> number_filters() { return filters; }

}  // namespace inlay::text::jinja
