// Arithmetic on numbers, and what + * % mean for texts and lists.
#include "text/jinja_operators.hpp"

#include <cmath>
#include <limits>

#include "text/jinja_format.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"

namespace inlay::text::jinja {
namespace {

constexpr std::int64_t lowest = std::numeric_limits<std::int64_t>::min();

std::string_view sign_of(Operator op) {
  static constexpr std::string_view signs[] = {"+", "-", "*", "/", "//", "%", "**"};
  return signs[static_cast<std::size_t>(op)];
}

[[noreturn]] void fail_types(Operator op, const Value& left, const Value& right) {
  const bool is_missing = left.is(Type::undefined) || right.is(Type::undefined);
  fail(is_missing ? Trouble::undefined : Trouble::type, "'" + std::string(sign_of(op)) + "' does not join " +
                                                            std::string(type_name(left)) + " and " +
                                                            std::string(type_name(right)));
}

[[noreturn]] void fail_overflow() { fail(Trouble::arithmetic, "a number does not fit into 64 bits"); }
[[noreturn]] void fail_division() { fail(Trouble::arithmetic, "a division by zero"); }

std::int64_t checked_product(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) fail_overflow();
  return product;
}

std::int64_t whole_power(std::int64_t base, std::int64_t exponent) {
  std::int64_t power = 1;
  while (true) {
    if (exponent & 1) power = checked_product(power, base);
    exponent >>= 1;
    if (exponent == 0) return power;
    base = checked_product(base, base);
  }
}

Value whole_numbers(Operator op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Operator::add:
      if (__builtin_add_overflow(a, b, &result)) fail_overflow();
      return Value::of(result);
    case Operator::subtract:
      if (__builtin_sub_overflow(a, b, &result)) fail_overflow();
      return Value::of(result);
    case Operator::multiply: return Value::of(checked_product(a, b));
    case Operator::floor_divide:
    case Operator::modulo: {
      if (b == 0) fail_division();
      if (a == lowest && b == -1) {
        return op == Operator::modulo ? Value::of(std::int64_t{0}) : (fail_overflow(), Value{});
      }
      const bool floors = a % b != 0 && (a < 0) != (b < 0);
      return Value::of(op == Operator::modulo ? a % b + (floors ? b : 0) : a / b - floors);
    }
    default:  // power
      if (b >= 0) return Value::of(b > 0 && (a == 0 || a == 1) ? a : whole_power(a, b));
      if (a == 0) fail_division();
      return Value::of(std::pow(static_cast<double>(a), static_cast<double>(b)));
  }
}

double real_power(double base, double exponent) {
  if (base == 0 && exponent < 0) fail_division();
  const double power = std::pow(base, exponent);
  if (!std::isfinite(power) && std::isfinite(base) && std::isfinite(exponent)) {
    fail(Trouble::arithmetic, "a power is no real number, or too large");
  }
  return power;
}

Value real_numbers(Operator op, double a, double b) {
  switch (op) {
    case Operator::add: return Value::of(a + b);
    case Operator::subtract: return Value::of(a - b);
    case Operator::multiply: return Value::of(a * b);
    case Operator::power: return Value::of(real_power(a, b));
    default: break;
  }
  if (b == 0) fail_division();
  if (op == Operator::divide) return Value::of(a / b);
  if (op == Operator::floor_divide) return Value::of(std::floor(a / b));
  const double rest = std::fmod(a, b);
  if (rest == 0) return Value::of(std::copysign(rest, b));
  return Value::of((rest < 0) != (b < 0) ? rest + b : rest);
}

Value numbers(Operator op, const Value& left, const Value& right) {
  const bool whole = left.is_whole() && right.is_whole() && op != Operator::divide;
  Value result =
      whole ? whole_numbers(op, left.whole(), right.whole()) : real_numbers(op, left.number(), right.number());
  result.origin = mixed(left.origin, right.origin);
  return result;
}

// Safe text escapes what it is joined with, as Jinja's Markup does.
Value joined_texts(const Machine& machine, const Value& left, const Value& right) {
  const bool safe = left.safe || right.safe;
  const auto part = [&](const Value& side) {
    return safe && !side.safe ? html_escaped(machine, side.text) : side.text;
  };
  Value both = Value::of(Text::join(machine.arena, part(left), part(right)));
  both.safe = safe;
  return both;
}

Value joined_lists(const Machine& machine, const Value& left, const Value& right) {
  List* both = machine.new_list(left.items->size() + right.items->size());
  machine.budget().work(1 + left.items->size() + right.items->size());
  for (const List* list : {left.items, right.items}) {
    for (const Value& item : *list) both->append(machine.arena, item);
  }
  return Value::of(both, left.type);
}

Value repeated(const Machine& machine, const Value& value, std::int64_t times) {
  times = std::max<std::int64_t>(times, 0);
  if (value.is(Type::string)) {
    Value result = Value::of(Text::flat(machine.arena, {}, Origin::template_text));
    result.safe = value.safe;
    if (value.text->empty()) return result;
    // By doubling: the text's own size limit ends it.
    for (int bit = 62; bit >= 0; --bit) {
      machine.budget().work(1);
      result.text = Text::join(machine.arena, result.text, result.text);
      if (times >> bit & 1) result.text = Text::join(machine.arena, result.text, value.text);
    }
    return result;
  }
  List* list = machine.new_list();
  for (std::int64_t i = 0; i < times && !value.items->empty(); ++i) {
    machine.budget().work(value.items->size());
    for (const Value& item : *value.items) list->append(machine.arena, item);
  }
  return Value::of(list, value.type);
}

bool repeats(const Value& value) { return value.is(Type::string) || value.is(Type::list) || value.is(Type::tuple); }

}  // namespace

Value combine(const Machine& machine, Operator op, const Value& left, const Value& right) {
  if (left.is_number() && right.is_number()) return numbers(op, left, right);
  const bool same_kind = left.type == right.type;
  if (op == Operator::add && same_kind && left.is(Type::string)) return joined_texts(machine, left, right);
  if (op == Operator::add && same_kind && (left.is(Type::list) || left.is(Type::tuple))) {
    return joined_lists(machine, left, right);
  }
  if (op == Operator::multiply && repeats(left) && right.is_whole()) return repeated(machine, left, right.whole());
  if (op == Operator::multiply && left.is_whole() && repeats(right)) return repeated(machine, right, left.whole());
  if (op == Operator::modulo && left.is(Type::string)) return percent_format(machine, left, right);
  fail_types(op, left, right);
}

Value with_sign(Operator op, const Value& value) {
  if (!value.is_number()) {
    fail(value.is(Type::undefined) ? Trouble::undefined : Trouble::type,
         "a sign stands before a value that is " + std::string(type_name(value)));
  }
  Value result = value;
  if (value.is(Type::real)) {
    result.real = op == Operator::negate ? -value.real : value.real;
    return result;
  }
  if (op == Operator::negate && value.whole() == lowest) fail_overflow();
  result.type = Type::integer;
  result.integer = op == Operator::negate ? -value.whole() : value.whole();
  return result;
}

bool holds(const Machine& machine, Operator op, const Value& left, const Value& right) {
  switch (op) {
    case Operator::equal: return equal(machine.arena, left, right);
    case Operator::not_equal: return !equal(machine.arena, left, right);
    case Operator::less: return compare(machine.arena, left, right) < 0;
    case Operator::less_equal: return compare(machine.arena, left, right) <= 0;
    case Operator::greater: return compare(machine.arena, left, right) > 0;
    case Operator::greater_equal: return compare(machine.arena, left, right) >= 0;
    case Operator::in: return machine.contains(right, left);
    default: return !machine.contains(right, left);
  }
}

}  // namespace inlay::text::jinja
