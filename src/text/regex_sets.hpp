// Intersection and complement of patterns, by finite automata over characters.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "text/grammar_expression.hpp"

namespace inlay::text {

// The set of texts that a finite automaton accepts.
class TextSet {
 public:
  // The texts for which `wanted` is true of the expressions that match: bit i stands for expression i. Expressions have
  // no references and no anchors. Repetitions are written out here, so that what is too large is refused: Error{limit}.
  TextSet(const Expressions& expressions, std::span<const ExpressionId> parts,
          const std::function<bool(std::uint64_t)>& wanted);

  bool empty() const { return !live_[0]; }
  bool contains(std::string_view utf8) const;
  void emit(Automaton& automaton, Speller& speller, Spelling spelling, NodeId from, NodeId to) const;

 private:
  struct Edge {
    CharSet chars;
    std::uint32_t to;
  };
  void find_live();
  std::vector<std::vector<Edge>> edges_;  // [0] is the start
  std::vector<bool> accepts_, live_;      // live: an accepting state is within reach
};

// How many characters the texts of an expression have.
struct Lengths {
  std::uint64_t least = 0, most = 0;
};
Lengths lengths(const Expressions& expressions, ExpressionId id);

}  // namespace inlay::text
