// How far a text has come in its grammar.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/grammar.hpp"
#include "text/automaton_run.hpp"

namespace inlay::text {

// A value: copies go on independently. One thread at a time; copies may be on different threads.
class GrammarState {
 public:
  explicit GrammarState(const Grammar& grammar);  // not an empty one

  // Reads more of the text. False, and nothing changes, where it cannot follow. Throws Error{argument, Fault::limit}
  // where following it takes too much.
  bool accept(std::string_view bytes);

  bool complete() const { return complete_; }                      // the text may end here
  bool finished() const { return complete_ && threads_.empty(); }  // and nothing can follow

  // The bytes that must come next, whoever chooses; at most `most` of them.
  std::string forced(std::size_t most = 256) const;

 private:
  friend class MaskMaker;
  Runner runner() const;

  std::shared_ptr<const GrammarRules> rules_;
  Stacks stacks_;
  std::vector<Thread> threads_;
  bool complete_ = false;
};

}  // namespace inlay::text
