// Patterns as one nondeterministic automaton, with every repetition written out.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "text/grammar_expression.hpp"

namespace inlay::text {

class Places {
 public:
  struct Move {
    const CharSet* chars;  // null: without reading
    std::uint32_t to;
  };

  explicit Places(const Expressions& expressions) : expressions_(expressions) {}

  // The first and the last place of an expression without references and anchors.
  std::pair<std::uint32_t, std::uint32_t> build(ExpressionId id);
  std::size_t size() const { return moves_.size(); }
  const std::vector<Move>& moves(std::uint32_t place) const { return moves_[place]; }

  [[noreturn]] static void refuse_size();

 private:
  std::uint32_t place();
  void write(ExpressionId id, std::uint32_t from, std::uint32_t to);
  void write_repeat(ExpressionId id, std::uint32_t from, std::uint32_t to);

  const Expressions& expressions_;
  std::vector<std::vector<Move>> moves_;
  std::vector<std::unique_ptr<CharSet>> singles_;
};

}  // namespace inlay::text
