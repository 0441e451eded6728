// The tests: what may stand after `is`.
#include <algorithm>

#include "base/utf8.hpp"
#include "text/jinja_builtins.hpp"
#include "text/jinja_operators.hpp"
#include "text/jinja_print.hpp"
#include "text/jinja_strings.hpp"
#include "text/unicode.hpp"

namespace inlay::text::jinja {
namespace {

using In = const Value&;
using With = const Arguments&;
using On = const Machine&;

template <Type... types>
bool is_one_of(On, In value, With) {
  return ((value.type == types) || ...);
}

bool defined(On, In value, With) { return !value.is(Type::undefined); }
bool is_true(On, In value, With) { return value.is(Type::boolean) && value.boolean; }
bool is_false(On, In value, With) { return value.is(Type::boolean) && !value.boolean; }
bool escaped(On, In value, With) { return value.is(Type::string) && value.safe; }

std::int64_t modulo(On machine, In value, In divisor) {
  const Value rest = combine(machine, Operator::modulo, value, divisor);
  return rest.is_number() && rest.number() == static_cast<double>(static_cast<std::int64_t>(rest.number()))
             ? static_cast<std::int64_t>(rest.number())
             : -1;
}

bool odd(On machine, In value, With) { return modulo(machine, value, Value::of(std::int64_t{2})) == 1; }
bool even(On machine, In value, With) { return modulo(machine, value, Value::of(std::int64_t{2})) == 0; }

bool divisible(On machine, In value, With with) {
  const Bound bound("divisibleby", with, {"num"}, 1);
  return modulo(machine, value, bound[0]) == 0;
}

// At least one letter with a case, and none of the other case.
template <bool upper>
bool has_case(On machine, In value, With) {
  const std::string_view bytes = machine.bytes(printed(machine, value));
  machine.budget().work_on_characters(bytes.size());
  bool found = false;
  for (std::size_t at = 0; at < bytes.size(); at += code_point_size(bytes[at])) {
    const char32_t code = base::decode_utf8(bytes.substr(at)).code;
    const bool is_upper = to_lower(code) != code, is_lower = upper_case(code) != code;
    if (upper ? is_lower : is_upper) return false;
    found |= upper ? is_upper : is_lower;
  }
  return found;
}

template <Operator op>
bool compares(On machine, In value, With with) {
  const Bound bound("a comparison", with, {"other"}, 1);
  return holds(machine, op, value, bound[0]);
}

bool same_as(On machine, In value, With with) {
  const Bound bound("sameas", with, {"other"}, 1);
  if (value.type != bound[0].type) return false;
  const bool is_object = value.has_items() || value.is(Type::dict);
  return is_object ? value.dict == bound[0].dict : equal(machine.arena, value, bound[0]);
}

bool is_filter(On machine, In value, With) { return value.is(Type::string) && find_filter(machine.bytes(value.text)); }
bool is_test(On machine, In value, With) { return value.is(Type::string) && find_test(machine.bytes(value.text)); }

constexpr TestEntry tests[] = {
    {"boolean", is_one_of<Type::boolean>},
    {"callable", is_one_of<Type::function, Type::method, Type::macro, Type::loop, Type::undefined>},
    {"defined", defined},
    {"divisibleby", divisible},
    {"escaped", escaped},
    {"even", even},
    {"false", is_false},
    {"filter", is_filter},
    {"float", is_one_of<Type::real>},
    {"in", compares<Operator::in>},
    {"integer", is_one_of<Type::integer, Type::huge>},
    {"iterable", is_one_of<Type::undefined, Type::string, Type::list, Type::tuple, Type::dict, Type::view, Type::range,
                           Type::generator, Type::loop>},
    {"lower", has_case<false>},
    {"mapping", is_one_of<Type::dict>},
    {"none", is_one_of<Type::none>},
    {"number", is_one_of<Type::integer, Type::huge, Type::real, Type::boolean>},
    {"odd", odd},
    {"sameas", same_as},
    {"sequence", is_one_of<Type::undefined, Type::string, Type::list, Type::tuple, Type::dict, Type::range>},
    {"string", is_one_of<Type::string>},
    {"test", is_test},
    {"true", is_true},
    {"undefined", is_one_of<Type::undefined>},
    {"upper", has_case<true>},
    {"!=", compares<Operator::not_equal>},
    {"<", compares<Operator::less>},
    {"<=", compares<Operator::less_equal>},
    {"==", compares<Operator::equal>},
    {">", compares<Operator::greater>},
    {">=", compares<Operator::greater_equal>},
    {"eq", compares<Operator::equal>},
    {"equalto", compares<Operator::equal>},
    {"ge", compares<Operator::greater_equal>},
    {"greaterthan", compares<Operator::greater>},
    {"gt", compares<Operator::greater>},
    {"le", compares<Operator::less_equal>},
    {"lessthan", compares<Operator::less>},
    {"lt", compares<Operator::less>},
    {"ne", compares<Operator::not_equal>},
};

}  // namespace

const TestEntry* find_test(std::string_view name) {
  const auto* found =
      std::find_if(std::begin(tests), std::end(tests), [&](const TestEntry& each) { return each.name == name; });
  return found == std::end(tests) ? nullptr : found;
}

}  // namespace inlay::text::jinja
