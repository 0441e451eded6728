// The last few measurements of something.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inlay::runtime {

// A step that was held up by something else says nothing against their median.
class Recent {
 public:
  void add(double value) {
    if (values_.size() == kept) values_.erase(values_.begin());
    values_.push_back(value);
  }
  bool empty() const { return values_.empty(); }
  double median() const {  // not of nothing
    auto sorted = values_;
    std::nth_element(sorted.begin(), sorted.begin() + std::ptrdiff_t(sorted.size() / 2), sorted.end());
    return sorted[sorted.size() / 2];
  }

 private:
  static constexpr std::size_t kept = 9;
  std::vector<double> values_;
};

}  // namespace inlay::runtime
