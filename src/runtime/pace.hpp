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
  explicit Pace(std::pmr::memory_resource* memory = std::pmr::new_delete_resource()) : alone_(memory) {}

  // A step in which `writing` requests made a token each and `prompt` tokens of prompts were read.
  void observe(std::size_t writing, std::size_t prompt, double seconds) {
    if (writing == 0) return;
    if (prompt == 0) {
      if (alone_.size() <= writing) alone_.resize(writing + 1);
      alone_[writing].add(seconds);
      since_alone_ = 0;
      return;
    }
    ++since_alone_;
    cost_.add(std::max(0.0, seconds - alone(writing)) / double(prompt));
    each_ = seconds / double(writing + prompt);
  }

  // Prompt tokens for a step that takes at most `steps` times as long as writing alone; 0 where that was not seen, or
  // not for long: meanwhile the texts have grown.
  std::size_t prompt_tokens(std::size_t writing, double steps) const {
    const double usual = alone(writing);
    if (usual == 0 || since_alone_ >= stale) return 0;
    const double room = headroom * std::max(0.0, steps - 1) * usual;
    // A few more tokens cost little while memory is the limit, and then much; but a step takes no longer than in
    // proportion to all its tokens.
    const double each = each_ > 0 ? each_ : usual / double(writing), sure = (usual + room) / each - double(writing);
    const double fits = !cost_.empty() && room < sure * cost_.median() ? room / cost_.median() : sure;
    return std::size_t(std::max(1.0, fits));
  }

 private:
  static constexpr double headroom = 0.5;
  static constexpr int stale = 64;

  // Of the nearest number of writing requests that was seen, rather a smaller one.
  double alone(std::size_t writing) const {
    for (auto n = std::min(writing + 1, alone_.size()); n-- > 0;)
      if (!alone_[n].empty()) return alone_[n].median();
    for (auto n = writing + 1; n < alone_.size(); ++n)
      if (!alone_[n].empty()) return alone_[n].median();
    return 0;
  }

  std::pmr::vector<Recent> alone_;  // seconds, by the number of writing requests
  Recent cost_;                     // seconds that a prompt token added to them
  double each_ = 0;      // of the last step that read a prompt: seconds for each token, those written included
  int since_alone_ = 0;  // steps
};

}  // namespace inlay::runtime
