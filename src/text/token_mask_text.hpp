// What states mean to the text of a string: most of a vocabulary is such text, and most of it needs no walk.
#pragma once

#include <cstdint>
#include <string>

#include "text/automaton_run.hpp"

namespace inlay {
inline namespace v0 {
struct GrammarRules;
}
}  // namespace inlay

namespace inlay::text {

// Whether every character of two bytes or more leads from one state to the other.
bool takes_long_characters(const States& states, StateId from, StateId to);

// Whether a thread takes every easy character and then is where it was, or one counted round further.
class EasyText {
 public:
  EasyText(const GrammarRules& rules, StateId state, Resume top);
  bool taken() const { return taken_; }
  std::uint32_t most() const { return most_; }  // characters in all; unbounded where nothing counts them

 private:
  bool leads_to(const GrammarRules& rules, StateId from, StateId to) const;
  bool taken_ = false;
  std::uint32_t most_ = unbounded;
};

// What a state means, in words that are the same for all grammars in which it means the same; empty where that takes
// more than the few states of a text.
std::string meaning_of(const GrammarRules& rules, StateId state);

}  // namespace inlay::text
