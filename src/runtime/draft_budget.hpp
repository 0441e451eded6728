// Whether it pays to guess tokens ahead: how many to read with the next one, from what that costs and how often it
// helps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "runtime/recent.hpp"

namespace inlay::runtime {

// Where a guess comes from, by how much it can be trusted. Guesses from the text itself rank by the tokens that agree.
enum class Trust { grammar, model, two, four, eight, sixteen };
inline constexpr std::size_t trusts = 6;
Trust trust_in_match(std::size_t length);

// Drafts are the tokens of a guess. Reading k of them beside the next token takes longer than the plain step, and gains
// a plain step for each that turns out right before the first wrong one. Time spent on wrong ones stays under a share
// of plain time over any `window` tokens. What else runs on a machine only lengthens steps,
// so the shortest of the last few counts. A value with no clock of its own: seconds come from outside.
class DraftBudget {
 public:
  static constexpr int most = 15;  // drafts in a step
  static constexpr int window = 256;
  static constexpr double share = 0.03;

  // What happened: a token was made; a step without drafts ran; one with drafts ran; of the drafts of the latter the
  // first `right` came true, and the next did not or was never looked at.
  void token();
  void plain_step(double seconds) { plain_.add(seconds); }
  void draft_step(Trust trust, int drafts, double seconds);
  void in_vain(double seconds);  // spent on a guess that came to nothing
  void verdict(Trust trust, int drafts, int right, bool refuted);

  // How many drafts, of at most `available`, the next step should read.
  int worth(Trust trust, int available) const;

  double chance(Trust trust) const { return chances_[std::size_t(trust)]; }  // that the next draft is right
  double wasted() const;  // seconds of wrong drafts, over the last `window` tokens

 private:
  using Costs = std::array<Recent, most + 1>;  // of steps, by drafts
  static constexpr std::array<double, trusts> usual_chances = {0.9, 0.7, 0.5, 0.7, 0.85, 0.92};
  const Costs& costs(Trust trust) const { return costs_[trust == Trust::model]; }
  double room() const;
  // Seconds beyond a plain step; `unknown` plain steps for a draft where none was ever read.
  double cost(Trust trust, int drafts, double unknown) const;

  Recent plain_;
  std::array<Costs, 2> costs_;  // a model that guesses takes time, too
  std::array<double, trusts> chances_ = usual_chances;
  std::array<double, window> wastes_ = {};  // at each of the last tokens
  std::int64_t tokens_ = 0, last_draft_ = 0;
};

}  // namespace inlay::runtime
