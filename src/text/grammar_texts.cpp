// Given texts as alternatives that share their beginnings.
#include "text/grammar_texts.hpp"

#include <algorithm>

#include "base/utf8.hpp"

namespace inlay::text {

void emit_texts(Automaton& automaton, Speller& speller, Spelling spelling, std::vector<std::string> texts, NodeId from,
                NodeId to) {
  std::ranges::sort(texts);
  struct Step {
    std::size_t end;  // bytes of the text read so far
    NodeId node;
  };
  std::vector<Step> path{{0, from}};
  const std::string* last = nullptr;
  for (const std::string& text : texts) {
    if (last && *last == text) continue;
    const auto same = last ? static_cast<std::size_t>(std::ranges::mismatch(*last, text).in2 - text.begin()) : 0;
    while (path.back().end > same) path.pop_back();
    while (path.back().end < text.size()) {
      const auto next = base::decode_utf8(std::string_view(text).substr(path.back().end));
      const NodeId node = automaton.add_node();
      speller.spell(spelling, next.code, path.back().node, node);
      path.push_back({path.back().end + next.size, node});
    }
    automaton.add_empty(path.back().node, to);
    last = &text;
  }
}

}  // namespace inlay::text
