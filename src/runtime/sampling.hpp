// The pipeline of a Sampler: from logits to one token, the same on every platform for the same logits and seed.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

#include "inlay/error.hpp"
#include "inlay/sampler.hpp"
#include "runtime/random.hpp"

namespace inlay::runtime {

struct Candidate {
  TokenId id;
  float logit;
};

// Likeliest first; equal logits by id.
inline bool before(const Candidate& a, const Candidate& b) {
  return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
}

// The k likeliest of all, likeliest first. A heap of the best so far, and whole stretches skipped by their maximum.
inline std::vector<Candidate> likeliest(std::span<const float> logits, std::size_t k) {
  k = std::min(k, logits.size());
  std::vector<Candidate> best;
  best.reserve(k + 1);
  constexpr std::size_t stretch = 32;
  for (std::size_t begin = 0; begin < logits.size(); begin += stretch) {
    const auto end = std::min(begin + stretch, logits.size());
    if (best.size() == k && end - begin == stretch) {
      float highest = logits[begin];
      for (std::size_t i = 0; i < stretch; ++i) highest = logits[begin + i] > highest ? logits[begin + i] : highest;
      if (!(highest > best.front().logit)) continue;
    }
    for (auto i = begin; i < end; ++i) {
      const Candidate candidate{TokenId(i), logits[i]};
      if (best.size() == k && !before(candidate, best.front())) continue;
      if (best.size() == k) std::pop_heap(best.begin(), best.end(), before), best.pop_back();
      best.push_back(candidate);
      std::push_heap(best.begin(), best.end(), before);
    }
  }
  std::sort(best.begin(), best.end(), before);
  return best;
}

// ln of the sum of e^logit, for log-probabilities. In eight partial sums of f32, which suffices for six digits.
double log_sum(std::span<const float> logits);

class Sampling {
 public:
  Sampling(const Sampler& recipe, std::uint64_t seed) : recipe_(recipe), random_(seed) {}

  // Changes `logits`. Throws Error{device} where they hold NaN or +infinity.
  TokenId choose(std::span<float> logits, std::span<const TokenId> so_far);

 private:
  void penalise(std::span<float> logits, std::span<const TokenId> so_far);
  void cut_to_probability(float p);
  void cut_to_fraction(float p);
  void gather(std::span<const float> logits);
  TokenId draw();

  Sampler recipe_;
  Random random_;
  std::vector<Candidate> candidates_;  // once a step has cut the vocabulary down
};

}  // namespace inlay::runtime
