// A walk through a vocabulary's tree with a running automaton.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/automaton_run.hpp"
#include "text/token_mask_cache.hpp"

namespace inlay {
inline namespace v0 {
struct GrammarRules;
}
}  // namespace inlay

namespace inlay::text {

class MaskWalk {
 public:
  MaskWalk(const GrammarRules& rules, const TokenTree& tree);

  // Its threads at the time of the first walk are where every walk starts.
  Runner& runner() { return runner_; }

  // Also notes after which beginnings of tokens the bottom was reached.
  void keep_loose(std::vector<LocalMask::Loose>& loose) { loose_ = &loose; }

  // Walks all that lies below a node, as far as the grammar goes. What is found holds within `when`.
  void below(std::uint32_t node, Interval when);

  // What was found.
  void finish(std::size_t vocabulary, TokenSet& always, std::vector<ConditionalTokens>& sometimes);

 private:
  struct Level {
    std::size_t begin, end, frames;
  };
  void begin();
  bool step_alone(std::uint32_t& node, const Level& up, Interval within);
  void visit(std::uint32_t node, Interval within);
  void note_intervals(Interval within);
  void allow(std::uint32_t begin, std::uint32_t end, Interval when);
  Kinds kept_by(StateId state);

  const States& states_;

  Runner runner_;
  const TokenTree& tree_;
  std::vector<LocalMask::Loose>* loose_ = nullptr;
  std::array<bool, 256> first_bytes_{};  // that some thread can read where every walk starts
  std::vector<Level> levels_;
  std::unordered_map<StateId, Kinds> kept_;
  std::vector<Interval> intervals_;  // for which the visited node's tokens are allowed
  std::vector<TokenIndex> always_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<TokenIndex>> sometimes_;
};

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

}  // namespace inlay::text
