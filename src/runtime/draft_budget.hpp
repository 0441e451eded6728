// Whether it pays to guess tokens ahead: how many to read with the next one, from what that costs and how often it
// helps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>

#include "runtime/recent.hpp"

namespace inlay::runtime {

// Where a guess comes from, by how much it can be trusted. Guesses from the text itself rank by the tokens that agree;
// the last two are second guesses, of the text and of a model, for where the first one goes wrong.
enum class Trust { grammar, model, two, four, eight, sixteen, other, runner_up };
inline constexpr std::size_t trusts = 8;
Trust trust_in_match(std::size_t length);

inline constexpr int most_drafts = 15;  // in a step

// What drafts cost, as shares of a plain step: medians of the last few times, as what else runs on a machine lengthens
// either. A model that guesses takes time, too, so it has figures of its own. All sessions of a model learn and know
// this together, from any thread.
class DraftCosts {
 public:
  struct Share {
    double usual = 0;
    std::size_t times = 0;  // that it was measured lately; 0: it is unknown
  };
  using Shares = std::array<Share, most_drafts + 1>;  // by drafts

  void add(bool of_model, int drafts, double share);
  Shares shares(bool of_model) const;
  void forget();

 private:
  mutable std::mutex mutex_;
  std::array<std::array<Recent<>, most_drafts + 1>, 2> costs_ = {};
};

// Drafts are the tokens of a guess. Reading k of them beside the next token takes longer than the plain step, and gains
// a plain step for each that turns out right before the first wrong one. Time spent on wrong ones stays under a share
// of plain time over any `window` tokens. A value with no clock of its own: seconds come from outside.
class DraftBudget {
 public:
  static constexpr int window = 256;
  static constexpr double share = 0.03;

  explicit DraftBudget(std::shared_ptr<DraftCosts> costs = std::make_shared<DraftCosts>()) : costs_(std::move(costs)) {}

  // What happened: a token was made; a step without drafts ran; one with drafts ran, and only `right` of them came
  // true.
  void token();
  void plain_step(double seconds) { plain_.add(seconds); }
  void draft_step(Trust trust, int drafts, double seconds);
  void settle(Trust trust, int drafts, int right);
  void in_vain(double seconds);  // spent on a guess that came to nothing
  // The first `right` tokens of a guess came true, and the next did not or was never looked at.
  void verdict(Trust trust, int right, bool refuted);

  // How many drafts, of at most `available`, the next step should read.
  int worth(Trust trust, int available);
  // How many more, of at most `available` of a second guess, that parts from the `drafts` behind the first `from`.
  int worth_aside(Trust trust, int drafts, int from, int available) const;

  double chance(Trust trust) const { return chances_[std::size_t(trust)]; }  // that the next draft is right
  double wasted() const;  // seconds of wrong drafts, over the last `window` tokens

 private:
  static constexpr std::array<double, trusts> usual_chances = {0.9, 0.7, 0.5, 0.7, 0.85, 0.92, 0.15, 0.35};
  double room() const;

  Recent<> plain_;
  std::shared_ptr<DraftCosts> costs_;
  std::array<double, trusts> chances_ = usual_chances;
  std::array<double, window> wastes_ = {};  // at each of the last tokens
  std::int64_t tokens_ = 0, last_draft_ = 0;
  bool declined_ = false;  // a guess, since the last one that was read
  bool retries_ = false;   // as if no cost were known
};

}  // namespace inlay::runtime
