// What a Grammar holds: the compiled automaton and its states.
#pragma once

#include <memory>
#include <utility>

#include "inlay/grammar.hpp"
#include "text/automaton.hpp"
#include "text/automaton_states.hpp"

namespace inlay {
inline namespace v0 {

struct GrammarRules {
  explicit GrammarRules(text::Automaton finished) : automaton(std::move(finished)), states(automaton) {
    states.prepare();
  }
  static Grammar make(text::Automaton finished) {
    return Grammar(std::make_shared<const GrammarRules>(std::move(finished)));
  }
  static const std::shared_ptr<const GrammarRules>& of(const Grammar& grammar) { return grammar.rules_; }

  const text::Automaton automaton;
  const text::States states;
};

}  // namespace v0
}  // namespace inlay
