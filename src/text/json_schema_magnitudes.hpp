// The digits of the numbers between two limits, without their sign.
#pragma once

#include <cstdint>
#include <optional>

#include "text/json_schema_numbers.hpp"

namespace inlay::text {

// What all multiples together divide: value = divisor * 10^-decimals.
struct Divisor {
  std::uint64_t value = 1;
  int decimals = 0;
  bool set = false;
};

// Numbers of zero or more that are multiples of the divisor.
void emit_magnitudes(Automaton& automaton, bool whole_only, Divisor divisor, const NumberLimit& least,
                     const std::optional<NumberLimit>& most, NodeId from, NodeId to);

}  // namespace inlay::text
