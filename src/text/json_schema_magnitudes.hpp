// The digits of the numbers between two limits, without their sign.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "text/json_schema_numbers.hpp"

namespace inlay::text {

// What all multiples together divide: value = divisor * 10^-decimals.
struct Divisor {
  std::uint64_t value = 1;  // up to 10^12
  int decimals = 0;
  bool set = false;
  std::string where;  // of the schema
};

// Numbers of zero or more that are multiples of the divisor, and whole or not as `facts` say. Throws Error{unsupported}
// where that takes too many states.
void emit_magnitudes(Automaton& automaton, const NumberFacts& facts, const Divisor& divisor, const NumberLimit& least,
                     const std::optional<NumberLimit>& most, NodeId from, NodeId to);

}  // namespace inlay::text
