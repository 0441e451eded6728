// How long steps take, learned from those that ran: how much of a prompt fits beside requests that write.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inlay::runtime {

class Pace {
 public:
  // A step in which `writing` requests made a token each and `prompt` tokens of prompts were read.
  void observe(std::size_t writing, std::size_t prompt, double seconds) {
    if (writing == 0) return;
    if (prompt == 0) {
      if (alone_.size() <= writing) alone_.resize(writing + 1);
      alone_[writing].add(seconds);
      return;
    }
    const double each = std::max(0.0, seconds - alone(writing)) / double(prompt);
    cost_ = std::max(each, cost_ + (each - cost_) * forget);  // up at once, down slowly
    read_ = prompt;
  }

  // Prompt tokens for a step that takes at most `steps` times as long as writing alone; 0 where that was never seen.
  // Grows by doubling, since a few tokens more cost little while memory is the limit, and then much.
  std::size_t prompt_tokens(std::size_t writing, double steps) const {
    const double usual = alone(writing);
    if (usual == 0) return 0;
    const double room = headroom * std::max(0.0, steps - 1) * usual;
    const double fits = cost_ > 0 ? std::min(room / cost_, 1e6) : 1e6;
    return std::max(least, std::min(std::size_t(fits), 2 * read_));
  }

 private:
  static constexpr double forget = 0.1, headroom = 0.55;
  static constexpr std::size_t least = 4;

  // The median of the last few: one step that was held up by something else says nothing.
  class Usual {
   public:
    void add(double seconds) {
      if (last_.size() == most) last_.erase(last_.begin());
      last_.push_back(seconds);
    }
    double value() const {
      auto sorted = last_;
      if (sorted.empty()) return 0;
      std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(sorted.size() / 2), sorted.end());
      return sorted[sorted.size() / 2];
    }

   private:
    static constexpr std::size_t most = 9;
    std::vector<double> last_;
  };

  // Of the nearest number of writing requests that was seen, rather a smaller one.
  double alone(std::size_t writing) const {
    for (auto n = std::min(writing + 1, alone_.size()); n-- > 0;)
      if (const double seconds = alone_[n].value(); seconds > 0) return seconds;
    for (auto n = writing + 1; n < alone_.size(); ++n)
      if (const double seconds = alone_[n].value(); seconds > 0) return seconds;
    return 0;
  }

  std::vector<Usual> alone_;  // by the number of writing requests
  double cost_ = 0;           // seconds of a prompt token beside them
  std::size_t read_ = 2 * least;
};

}  // namespace inlay::runtime
