// The JSON numbers within limits, as an automaton that reads their digits.
#pragma once

#include <optional>
#include <vector>

#include "text/automaton.hpp"
#include "text/json_schema_decimal.hpp"

namespace inlay::text {

struct NumberLimit {
  Decimal value;
  bool exclusive = false;
};

struct NumberFacts {
  bool whole_only = false, fraction_only = false;
  std::optional<NumberLimit> least, most;
  std::optional<Decimal> exactly;
  std::vector<Decimal> others;                             // which it must not be
  std::vector<std::pair<Decimal, std::string>> multiples;  // and where each stands in the schema
  std::string where;                                       // of the schema
};

// Whole numbers may end in ".0". Numbers with limits have no exponent. Throws Error{unsupported} for multiples that
// need too many states. Adds nothing where no number fits.
void emit_number(Automaton& automaton, const NumberFacts& facts, NodeId from, NodeId to);

}  // namespace inlay::text
