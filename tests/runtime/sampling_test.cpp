// Proves: samplers keep what their formulas keep, and draws follow the distribution they leave.
#include <cmath>
#include <map>
#include <random>

#include "runtime/sampling.hpp"
#include "tests/support/catch.hpp"

namespace {

using inlay::Sampler;
using inlay::TokenId;
using inlay::runtime::Sampling;

std::vector<float> random_logits(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  std::vector<float> logits(n);
  for (auto& x : logits) x = normal(random);
  return logits;
}

// The distribution a recipe leaves, by sorting and plain double arithmetic.
std::map<TokenId, double> expected(const std::vector<float>& logits, const Sampler& s) {
  std::vector<std::pair<double, TokenId>> sorted;
  for (std::size_t i = 0; i < logits.size(); ++i) sorted.push_back({-double(logits[i]), TokenId(i)});
  std::sort(sorted.begin(), sorted.end());
  if (s.top_k > 0) sorted.resize(std::min(sorted.size(), std::size_t(s.top_k)));
  const double top = -sorted[0].first;
  const auto weight = [&](const auto& c) { return std::exp(-c.first - top); };
  double total = 0, sum = 0;
  for (const auto& c : sorted) total += weight(c);
  std::size_t kept = 0;
  while (kept < sorted.size() && (sum < double(s.top_p) * total)) sum += weight(sorted[kept++]);
  if (s.top_p < 1) sorted.resize(kept);
  std::erase_if(sorted, [&](const auto& c) { return weight(c) < double(s.min_p); });
  total = 0;
  for (const auto& c : sorted) total += std::exp((-c.first - top) / double(s.temperature));
  std::map<TokenId, double> p;
  for (const auto& c : sorted) p[c.second] = std::exp((-c.first - top) / double(s.temperature)) / total;
  return p;
}

void check_draws(const Sampler& recipe, unsigned seed) {
  const auto logits = random_logits(50, seed);
  const auto p = expected(logits, recipe);
  Sampling sampling(recipe, seed);
  constexpr int draws = 20000;
  std::map<TokenId, int> seen;
  for (int i = 0; i < draws; ++i) {
    auto copy = logits;
    ++seen[sampling.choose(copy, {})];
  }
  double chi_square = 0;
  int cells = 0;
  for (const auto& [id, n] : seen) REQUIRE(p.contains(id));
  for (const auto& [id, probability] : p)
    if (probability * draws >= 5)
      chi_square += std::pow(seen[id] - probability * draws, 2) / (probability * draws), ++cells;
  // Mean cells - 1, variance 2 (cells - 1): six deviations are beyond chance.
  CHECK(chi_square <= cells - 1 + 6 * std::sqrt(2.0 * cells));
}

TEST_CASE("draws follow the distribution that the recipe leaves") {
  check_draws({.top_k = 0, .top_p = 1, .min_p = 0, .temperature = 1}, 1);
  check_draws({.top_k = 10, .top_p = 1, .min_p = 0, .temperature = 0.7f}, 2);
  check_draws({.top_k = 0, .top_p = 0.8f, .min_p = 0, .temperature = 1.3f}, 3);
  check_draws({.top_k = 0, .top_p = 1, .min_p = 0.1f, .temperature = 1}, 4);
  check_draws({.top_k = 30, .top_p = 0.9f, .min_p = 0.02f, .temperature = 0.9f}, 5);
}

TEST_CASE("the likeliest are those of a full sort") {
  for (const std::size_t n : {1, 5, 31, 32, 1000, 5003}) {
    const auto logits = random_logits(n, unsigned(n));
    std::vector<inlay::runtime::Candidate> all;
    for (std::size_t i = 0; i < n; ++i) all.push_back({TokenId(i), logits[i]});
    std::sort(all.begin(), all.end(), inlay::runtime::before);
    for (const std::size_t k : {std::size_t(1), std::size_t(40), n}) {
      const auto best = inlay::runtime::likeliest(logits, k);
      REQUIRE(best.size() == std::min(k, n));
      for (std::size_t i = 0; i < best.size(); ++i) CHECK(best[i].id == all[i].id);
    }
  }
}

TEST_CASE("random numbers are those of xoshiro256++ seeded by splitmix64") {
  // The first outputs for the state {1, 2, 3, 4} are published with the algorithm; splitmix64's first for seed 0 is
  // 0xe220a8397b1dcdaf.
  inlay::runtime::Random random(0);
  const std::uint64_t s0 = 0xe220a8397b1dcdaf, s3 = 0xf88bb8a8724c81ec;
  CHECK(random.next() == std::rotl(s0 + s3, 23) + s0);
}

TEST_CASE("the exponential and the log-sum are right") {
  for (double x = 0; x > -600; x -= 0.37) CHECK(inlay::runtime::exponential(x) == Approx(std::exp(x)).epsilon(1e-14));
  CHECK(inlay::runtime::exponential(-1e9) == 0);
  const auto logits = random_logits(40000, 9);
  double sum = 0;
  for (const float x : logits) sum += std::exp(double(x));
  CHECK(inlay::runtime::log_sum(logits) == Approx(std::log(sum)).epsilon(1e-6));
}

TEST_CASE("the repeat penalty follows its formula, and greedy breaks ties by id") {
  std::vector<float> logits = {2, 3, -1, 3};
  Sampling greedy({.repeat_penalty = 1, .temperature = 0}, 1);
  CHECK(greedy.choose(logits, {}) == 1);
  std::vector<float> again = {2, 3, -1, 2.5f};
  const TokenId past[] = {1, 2};
  Sampling penal({.repeat_penalty = 2, .temperature = 0}, 1);
  CHECK(penal.choose(again, past) == 3);
  CHECK(again[1] == 1.5f);
  CHECK(again[2] == -2);
}

TEST_CASE("logits that are not finite numbers are an error, not a token") {
  for (const float bad : {std::nanf(""), INFINITY}) {
    std::vector<float> logits = {1, bad, 2};
    Sampling sampling({}, 1);
    CHECK_THROWS_AS(sampling.choose(logits, {}), inlay::Error);
  }
  std::vector<float> none(4, -INFINITY);
  Sampling sampling({}, 1);
  CHECK_THROWS_AS(sampling.choose(none, {}), inlay::Error);
}

}  // namespace
