// Distributions written down by formulas, to hold samplers against: plain double arithmetic over a sorted list.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <vector>

#include "runtime/sampling.hpp"
#include "tests/support/catch.hpp"

namespace distribution {

using inlay::Sampler;
using inlay::TokenId;
using inlay::runtime::Candidates;
using inlay::runtime::Sampling;

struct Row {
  TokenId id;
  double logit;
};
using Rows = std::vector<Row>;
using Probabilities = std::map<TokenId, double>;

inline std::vector<float> random_logits(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  for (auto& x : logits) x = normal(random);
  return logits;
}

inline Rows sorted(const std::vector<float>& logits) {
  Rows rows;
  for (std::size_t i = 0; i < logits.size(); ++i) rows.push_back({TokenId(i), double(logits[i])});
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.logit > b.logit; });
  return rows;
}

inline std::vector<double> softmax(const Rows& rows) {
  double total = 0;
  std::vector<double> p;
  for (const auto& row : rows) p.push_back(std::exp(row.logit - rows[0].logit)), total += p.back();
  for (auto& x : p) x /= total;
  return p;
}

inline Probabilities probabilities(const Rows& rows) {
  const auto p = softmax(rows);
  Probabilities all;
  for (std::size_t i = 0; i < rows.size(); ++i)
    if (p[i] > 0) all[rows[i].id] = p[i];
  return all;
}

// What the last step of a recipe left of the logits, as the sampler sees it; `step` may name an earlier one.
inline Probabilities left_by(Sampling& sampling, const std::vector<float>& logits, std::string_view step = {},
                             std::span<const TokenId> so_far = {}) {
  Probabilities left;
  sampling.choose(logits, so_far, [&](std::string_view name, Candidates& candidates) {
    if (!step.empty() && name != step) return;
    left.clear();
    const double top = candidates.largest(), mass = candidates.mass();
    candidates.each([&](TokenId id, float logit) {
      if (const double p = std::exp(double(logit) - top) / mass; p > 0) left[id] = p;
    });
  });
  return left;
}

inline void check_equal(const Probabilities& is, const Probabilities& expected) {
  REQUIRE(is.size() == expected.size());
  for (const auto& [id, p] : expected) {
    REQUIRE(is.contains(id));
    CHECK(is.at(id) == Approx(p).epsilon(1e-5));
  }
}

// Draws against a distribution. The statistic has the mean cells - 1 and the variance 2 (cells - 1): six deviations are
// beyond chance.
inline void check_draws(const std::map<TokenId, int>& seen, const Probabilities& p, int draws) {
  double chi_square = 0;
  int cells = 0;
  for (const auto& [id, n] : seen) REQUIRE(p.contains(id));
  for (const auto& [id, probability] : p) {
    const auto found = seen.find(id);
    const double n = found == seen.end() ? 0 : found->second, mean = probability * draws;
    if (mean >= 5) chi_square += (n - mean) * (n - mean) / mean, ++cells;
  }
  CHECK(chi_square <= cells - 1 + 6 * std::sqrt(2.0 * cells));
}

inline std::map<TokenId, int> draws(Sampling& sampling, const std::vector<float>& logits, int n) {
  std::map<TokenId, int> seen;
  for (int i = 0; i < n; ++i) ++seen[sampling.choose(logits, {})];
  return seen;
}

// Every step at its neutral value.
inline Sampler plain() { return {.top_k = 0, .top_p = 1, .min_p = 0, .temperature = 1}; }

}  // namespace distribution
