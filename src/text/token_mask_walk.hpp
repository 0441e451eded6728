// A walk through a vocabulary's tree with a running automaton.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "text/automaton_run.hpp"
#include "text/token_mask_cache.hpp"
#include "text/token_mask_text.hpp"

namespace inlay::text {

class MaskWalk {
 public:
  MaskWalk(const GrammarRules& rules, const TokenTree& tree);

  // Its threads at the time of the first walk are where every walk starts.
  Runner& runner() { return runner_; }

  // Also notes after which beginnings of tokens the bottom was reached.
  void keep_loose(std::pmr::vector<LocalMask::Loose>& loose) { loose_ = &loose; }

  // Walks all that lies below a node, as far as the grammar goes. What is found holds within `when`.
  void below(std::uint32_t node, Interval when);

  // What was found.
  void finish(std::size_t vocabulary, TokenSet& always, std::pmr::vector<ConditionalTokens>& sometimes);

 private:
  struct Level {
    std::size_t begin, end, frames;
  };
  struct FirstStep {
    std::vector<Thread> threads;
    std::vector<Interval> ends;
  };
  void begin();
  bool is_read_to_the_end(std::uint32_t node, const Level& up, Interval within) const;
  bool step_together(std::uint32_t node, const Level& up);
  bool count_easy_below(std::uint32_t node, Interval within);
  const EasyText* counter_of(const Thread& thread);
  bool step_alone(std::uint32_t& node, const Level& up, Interval within);
  bool keeps_all_below(StateId state, std::uint32_t node);
  void visit(std::uint32_t node, Interval within);
  void note_intervals(Interval within);
  void allow(std::uint32_t begin, std::uint32_t end, Interval when);
  Kinds kept_by(StateId state);

  const GrammarRules& rules_;
  const States& states_;

  Runner runner_;
  const TokenTree& tree_;
  std::pmr::vector<LocalMask::Loose>* loose_ = nullptr;
  std::array<bool, 256> first_bytes_{};  // that some thread can read where every walk starts
  std::vector<Level> levels_;
  std::map<std::uint8_t, FirstStep> firsts_;
  std::map<std::pair<StateId, std::uint32_t>, std::unique_ptr<const EasyText>> counters_;
  std::unordered_map<StateId, Kinds> kept_;
  std::vector<Interval> intervals_;  // for which the visited node's tokens are allowed
  std::pmr::vector<TokenIndex> always_;
  std::pmr::map<std::pair<std::int64_t, std::int64_t>, std::pmr::vector<TokenIndex>> sometimes_;
};

}  // namespace inlay::text
