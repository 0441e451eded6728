// The last few measurements of something.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace inlay::runtime {

// A step that was held up by something else says nothing against their median.
template <std::size_t kept = 9>
class Recent {
 public:
  void add(double value) { values_[added_++ % kept] = value; }
  bool empty() const { return added_ == 0; }
  std::size_t count() const { return std::min(added_, kept); }  // of those kept
  // Not of nothing, as below.
  double median() const { return above(0.5); }
  // The one that such a share of them does not exceed.
  double above(double share) const {
    auto sorted = values_;
    const auto rank = std::size_t(share * double(count()));
    std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.begin() + count());
    return sorted[rank];
  }

 private:
  std::array<double, kept> values_ = {};
  std::size_t added_ = 0;
};

}  // namespace inlay::runtime
