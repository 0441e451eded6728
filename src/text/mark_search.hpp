// Any text up to the first of some marks, as a part of an automaton (Aho and Corasick 1975).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "text/automaton.hpp"

namespace inlay::text {

class MarkSearch {
 public:
  // No mark is empty. Where one mark ends within another, the one that ends first counts.
  explicit MarkSearch(const std::vector<std::string>& marks);

  struct Written {
    NodeId begin = no_id;
    std::vector<NodeId> without;  // no mark was read yet
    std::vector<NodeId> after;    // each of the marks
  };
  Written write(Automaton& out) const;

 private:
  struct State {
    std::array<std::uint32_t, 256> next{};
    std::uint32_t shorter = 0;  // the state of the longest proper end of what was read
    std::uint32_t mark = no_id;
  };
  void link();

  std::vector<State> states_{1};
  std::size_t marks_;
};

}  // namespace inlay::text
