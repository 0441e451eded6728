// The operators of expressions, with Python's rules for which types they take.
#pragma once

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

enum class Operator : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  negate,
  plus,
  logical_not,
  logical_and,
  logical_or,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  in,
  not_in
};

// + - * / // % **
Value combine(const Machine& machine, Operator op, const Value& left, const Value& right);
// - and +
Value with_sign(Operator op, const Value& value);
// == != < <= > >= in, not in
bool holds(const Machine& machine, Operator op, const Value& left, const Value& right);

}  // namespace inlay::text::jinja
