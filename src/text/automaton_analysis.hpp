// What can be known of an automaton before it runs.
#pragma once

#include <cstdint>
#include <vector>

#include "text/automaton.hpp"

namespace inlay::text {

inline constexpr std::uint64_t no_text = ~std::uint64_t{0};

// For each node: the fewest bytes from there to the exit of its rule; no_text where there is no way.
std::vector<std::uint64_t> shortest_texts(const Automaton& automaton);

// A rule within reach of the root that can come back to its own beginning without reading a byte; no_id if none.
RuleId left_recursive_rule(const Automaton& automaton, const std::vector<std::uint64_t>& shortest);

}  // namespace inlay::text
