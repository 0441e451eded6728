// Drawing, and the state that two of the draws carry on.
#include "runtime/sampling_draw.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/elementary.hpp"
#include "runtime/sampling_steps.hpp"

namespace inlay::runtime {

namespace {

constexpr double ln2 = 0.6931471805599453;

}  // namespace

TokenId draw(const Candidates& candidates, Random& random) {
  const double top = candidates.largest(), target = random.uniform() * candidates.mass();
  double sum = 0;
  TokenId chosen = -1, first = -1;
  candidates.each([&](TokenId id, float logit) {
    if (chosen >= 0) return;
    if (first < 0) first = id;
    sum += exponential(double(logit) - top);
    if (sum > target) chosen = id;
  });
  return chosen >= 0 ? chosen : first;  // first: rounding left nothing above the target
}

void Mirostat::cut(Candidates& candidates) const {
  candidates.list();
  const auto p = probabilities(candidates);
  candidates.keep_likeliest(std::clamp<std::size_t>(count(p, double(candidates.vocabulary())), 1, p.size()));
}

std::size_t Mirostat::count(std::span<const double> p, double vocabulary) const {
  if (version_ == 2) {
    std::size_t n = 0;
    while (n < p.size() && -logarithm(p[n]) / ln2 <= most_) ++n;
    return n;
  }
  constexpr std::size_t looked_at = 100;
  double products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < std::min(looked_at, p.size()) && p[i + 1] > 0; ++i) {
    const double t = logarithm(double(i + 2) / double(i + 1)), b = logarithm(p[i] / p[i + 1]);
    products += t * b, squares += t * t;
  }
  if (squares == 0) return 1;
  const double s = products / squares, epsilon = s - 1;  // Zipf's exponent
  const double scale =
      std::abs(epsilon) < 1e-9 ? 1 / logarithm(vocabulary) : epsilon / (1 - power(vocabulary, -epsilon));
  const double k = s > 0 ? power(scale * exponential(most_ * ln2), 1 / s) : double(p.size());
  return k < double(p.size()) ? std::size_t(std::max(k, 1.0)) : p.size();
}

TokenId Mirostat::choose(const Candidates& candidates, Random& random) {
  const double top = candidates.largest(), mass = candidates.mass();
  const auto id = draw(candidates, random);
  candidates.each([&](TokenId other, float logit) {
    if (other == id) most_ -= eta_ * (-(double(logit) - top - logarithm(mass)) / ln2 - tau_);
  });
  return id;
}

Adaptive::Adaptive(double target, double decay, std::pmr::memory_resource* memory)
    : target_(std::clamp(target, 0.0, 1.0)), decay_(std::min(decay, 0.99)), original_(memory) {
  weight_ = 1 / (1 - decay_);
  sum_ = target_ * weight_;
}

void Adaptive::reweigh(Candidates& candidates) {
  const double wanted = std::clamp(2 * target_ - sum_ / weight_, 0.0, 1.0);
  auto& list = candidates.list();
  original_.clear();
  const auto p = probabilities(candidates);
  for (std::size_t i = 0; i < list.size(); ++i) {
    original_.emplace_back(list[i].id, p[i]);
    const double x = std::abs(p[i] - wanted) / 0.3;
    if (list[i].logit > -std::numeric_limits<float>::infinity()) list[i].logit = float(5 - 10 * x * x / (1 + x));
  }
  std::sort(list.begin(), list.end(), before);
}

TokenId Adaptive::choose(const Candidates& candidates, Random& random) {
  const auto id = draw(candidates, random);
  const auto chosen = std::find_if(original_.begin(), original_.end(), [&](const auto& c) { return c.first == id; });
  sum_ = chosen->second + decay_ * sum_;
  weight_ = 1 + decay_ * weight_;
  return id;
}

}  // namespace inlay::runtime
