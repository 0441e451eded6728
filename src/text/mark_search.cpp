// A state for each beginning of a mark: the longest that the text ends with.
#include "text/mark_search.hpp"

#include <queue>

namespace inlay::text {

MarkSearch::MarkSearch(const std::vector<std::string>& marks) : marks_(marks.size()) {
  for (std::uint32_t mark = 0; mark < marks.size(); ++mark) {
    std::uint32_t at = 0;
    for (const char c : marks[mark]) {
      const auto byte = static_cast<std::uint8_t>(c);
      if (states_[at].next[byte] == 0) {
        states_[at].next[byte] = static_cast<std::uint32_t>(states_.size());
        states_.emplace_back();
      }
      at = states_[at].next[byte];
    }
    if (states_[at].mark == no_id) states_[at].mark = mark;
  }
  link();
}

// Breadth first, so that shorter states know their ways already.
void MarkSearch::link() {
  std::queue<std::uint32_t> ahead;
  for (const std::uint32_t child : states_[0].next) {
    if (child != 0) ahead.push(child);
  }
  for (; !ahead.empty(); ahead.pop()) {
    State& state = states_[ahead.front()];
    const State& shorter = states_[state.shorter];
    if (state.mark == no_id) state.mark = shorter.mark;
    for (std::size_t byte = 0; byte < state.next.size(); ++byte) {
      if (state.next[byte] == 0) {
        state.next[byte] = shorter.next[byte];
      } else {
        states_[state.next[byte]].shorter = shorter.next[byte];
        ahead.push(state.next[byte]);
      }
    }
  }
}

MarkSearch::Written MarkSearch::write(Automaton& out) const {
  Written written;
  std::vector<NodeId> nodes;
  for (std::size_t mark = 0; mark < marks_; ++mark) written.after.push_back(out.add_node());
  for (const State& state : states_) {
    nodes.push_back(state.mark == no_id ? out.add_node() : written.after[state.mark]);
    if (state.mark == no_id) written.without.push_back(nodes.back());
  }
  written.begin = nodes[0];
  for (std::size_t at = 0; at < states_.size(); ++at) {
    if (states_[at].mark != no_id) continue;
    const auto& next = states_[at].next;
    for (std::size_t first = 0, byte = 1; byte <= next.size(); ++byte) {
      if (byte < next.size() && next[byte] == next[first]) continue;
      out.add_byte(nodes[at], std::uint8_t(first), std::uint8_t(byte - 1), nodes[next[first]]);
      first = byte;
    }
  }
  return written;
}

}  // namespace inlay::text
