// The last few measurements of something.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace inlay::runtime {

// A step that was held up by something else says nothing against their median.
class Recent {
 public:
  void add(double value) { values_[added_++ % kept] = value; }
  bool empty() const { return added_ == 0; }
  std::size_t count() const { return std::min(added_, kept); }  // of those kept
  // Not of nothing.
  double median() const {
    auto sorted = values_;
    const auto count = std::min(added_, kept), middle = count / 2;
    std::nth_element(sorted.begin(), sorted.begin() + middle, sorted.begin() + count);
    return sorted[middle];
  }

 private:
  static constexpr std::size_t kept = 9;
  std::array<double, kept> values_ = {};
  std::size_t added_ = 0;
};

}  // namespace inlay::runtime
