// How long steps take, learned from those that ran: how much of a prompt fits beside requests that write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <vector>

#include "runtime/recent.hpp"

namespace inlay::runtime {

class Pace {
 public:
  // A step takes at most `steps` times as long as writing alone.
  explicit Pace(double steps, std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : steps_(steps), alone_(memory) {}

  // A step in which `writing` requests made a token each and `prompt` tokens of prompts were read, of which the deepest
  // stood behind `depth` others.
  void observe(std::size_t writing, std::size_t prompt, std::size_t depth, double seconds) {
    if (writing == 0) return;
    if (prompt == 0) {
      if (alone_.size() <= writing) alone_.resize(writing + 1);
      alone_[writing].add(seconds);
      since_alone_ = 0;
      return;
    }
    ++since_alone_, ++since_too_many_;
    const double usual = alone(writing), growth = growth_to(depth);
    if (prompt > tokens_ && seconds > late * steps_ * usual)
      enough_ = std::max(tokens_, prompt / 2), since_too_many_ = 0;
    if (!cost_.empty()) error_.add(seconds / (usual + growth * cost_.median() * double(prompt)));
    if (growth > 1 + slow_growth) cost_ = {};  // of another prompt
    last_cost_ = std::max(0.0, seconds - usual) / double(prompt);
    cost_.add(last_cost_);
    each_ = seconds / double(writing + prompt);
    tokens_ = prompt, depth_ = depth;
  }

  // Prompt tokens for a step, where the deepest stands behind `depth` others; 0 where writing alone was not seen, or
  // not for long: meanwhile the texts have grown.
  std::size_t prompt_tokens(std::size_t writing, std::size_t depth) const {
    const double usual = alone(writing);
    if (usual == 0 || since_alone_ >= stale) return 0;
    const double most = longest(usual), growth = growth_to(depth);
    if (cost_.empty()) return std::size_t(std::clamp((most / usual - 1) * double(writing), 1.0, first_tokens));
    // A few more tokens cost little while memory is the limit, and then much; but a step takes no longer than in
    // proportion to all its tokens, unless they take another way through the kernels.
    const double sure = most / (growth * each_) - double(writing), room = most - usual;
    const double cost = growth * std::max(last_cost_, cost_.median()), fits = room < sure * cost ? room / cost : sure;
    const double tried = since_too_many_ < cautious ? double(enough_) : fits;
    return std::size_t(std::max(1.0, std::min({fits, tried, 2 * double(tokens_)})));
  }

 private:
  using Alone = Recent<7>;
  static constexpr double first_tokens = 4;  // what they cost is not known
  static constexpr double shallow = 256, slow_growth = 0.1, late = 0.875;
  static constexpr double least_margin = 1.45, most_margin = 1.6, first_margin = 1.45;
  static constexpr int stale = 16, cautious = 64;  // steps

  // Of the nearest number of writing requests that was seen, rather a smaller one.
  double alone(std::size_t writing) const {
    for (auto n = std::min(writing + 1, alone_.size()); n-- > 0;)
      if (!alone_[n].empty()) return usual_of(alone_[n]);
    for (auto n = writing + 1; n < alone_.size(); ++n)
      if (!alone_[n].empty()) return usual_of(alone_[n]);
    return 0;
  }
  // Rather the fast ones: what has held some up shall not let others be held up.
  static double usual_of(const Alone& seconds) { return seconds.above(0.2); }

  double longest(double usual) const { return usual * std::max(1.0, steps_ / margin()); }
  // The longest of some hundred steps differs from what was foreseen by about so much.
  double margin() const {
    if (error_.count() < 8) return first_margin;
    return std::clamp(1 + 3.5 * (error_.above(0.9) - 1), least_margin, most_margin);
  }

  // A token costs no more than in proportion to what it attends to, and no less than one that attends to less.
  double growth_to(std::size_t depth) const {
    return std::max(1.0, (double(depth) + shallow) / (double(depth_) + shallow));
  }

  double steps_;
  std::pmr::vector<Alone> alone_;  // seconds, by the number of writing requests
  int since_alone_ = 0;            // steps

  // Of steps that read a prompt:
  Recent<> cost_;     // seconds that each of its tokens added
  Recent<32> error_;  // how many times as long as foreseen they took
  double each_ = 0;   // of the last one: seconds for each token, those written included
  double last_cost_ = 0;
  std::size_t tokens_ = 0, depth_ = 0;  // of its prompt
  std::size_t enough_ = 0;              // tokens, a step up from which took too long
  int since_too_many_ = cautious;       // steps
};

}  // namespace inlay::runtime
