// Proves: the usual chain keeps what its formulas keep, and draws follow the distribution it leaves.
#include "runtime/elementary.hpp"
#include "tests/runtime/distribution.hpp"

namespace {

using namespace distribution;

// The distribution that top_k, top_p, min_p and temperature leave, by sorting.
Probabilities expected(const std::vector<float>& logits, const Sampler& s) {
  auto rows = sorted(logits);
  if (s.top_k > 0) rows.resize(std::min(rows.size(), std::size_t(s.top_k)));
  auto p = softmax(rows);
  double sum = 0;
  std::size_t kept = 0;
  while (kept < rows.size() && sum < double(s.top_p)) sum += p[kept++];
  if (s.top_p < 1) rows.resize(kept);
  std::erase_if(rows, [&, top = rows[0].logit](const Row& row) { return std::exp(row.logit - top) < double(s.min_p); });
  for (auto& row : rows) row.logit /= double(s.temperature);
  return probabilities(rows);
}

void check_chain(const Sampler& recipe, unsigned seed) {
  const auto logits = random_logits(50, seed);
  const auto p = expected(logits, recipe);
  Sampling sampling(recipe, seed);
  check_draws(draws(sampling, logits, 20000), p, 20000);
}

TEST_CASE("draws follow the distribution that the recipe leaves") {
  check_chain(plain(), 1);
  check_chain({.top_k = 10, .top_p = 1, .min_p = 0, .temperature = 0.7f}, 2);
  check_chain({.top_k = 0, .top_p = 0.8f, .min_p = 0, .temperature = 1.3f}, 3);
  check_chain({.top_k = 0, .top_p = 1, .min_p = 0.1f, .temperature = 1}, 4);
  check_chain({.top_k = 30, .top_p = 0.9f, .min_p = 0.02f, .temperature = 0.9f}, 5);
}

TEST_CASE("a large vocabulary is cut as by sorting all of it") {
  for (const unsigned seed : {1u, 2u, 3u}) {
    const auto logits = random_logits(152064, seed);
    for (const Sampler& recipe : {Sampler{}, Sampler{.top_k = 0}, Sampler{.top_k = 0, .top_p = 0.999f, .min_p = 0},
                                  Sampler{.top_k = 1000, .top_p = 1, .min_p = 0.2f}}) {
      Sampling sampling(recipe, seed);
      check_equal(left_by(sampling, logits), expected(logits, recipe));
    }
  }
}

TEST_CASE("the likeliest are those of a full sort") {
  for (const std::size_t n : {1, 5, 63, 64, 1000, 5003}) {
    const auto logits = random_logits(n, unsigned(n));
    const auto all = sorted(logits);
    for (const std::size_t k : {std::size_t(1), std::size_t(40), n}) {
      Candidates candidates;
      candidates.start(logits);
      const auto best = candidates.leading(k);
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

TEST_CASE("the same logits and seed give the tokens that another implementation drew") {
  // From a twin in Python: its own xoshiro256++, float32 rounding, math.exp and a full sort.
  const TokenId drawn[] = {334, 99,  75,  87,  13,  198, 210, 161, 494, 470, 235, 260,
                           445, 284, 383, 235, 494, 284, 198, 346, 173, 223, 124, 272};
  std::vector<float> logits;
  for (int i = 0; i < 500; ++i) logits.push_back(float(i * 7919 % 1000) / 100);
  Sampling sampling({}, 42);
  for (const auto id : drawn) CHECK(sampling.choose(logits, {}) == id);
}

TEST_CASE("exponential, logarithm, power and log-sum are right") {
  using namespace inlay::runtime;
  for (double x = -600; x < 600; x += 0.37) CHECK(exponential(x) == Approx(std::exp(x)).epsilon(1e-14));
  CHECK(exponential(-1e9) == 0);
  CHECK(exponential(1e9) == INFINITY);
  for (double x = 1e-310; x < 1e300; x *= 1.7) CHECK(logarithm(x) == Approx(std::log(x)).epsilon(1e-14));
  for (double x = 0.9; x < 1.1; x += 0.0007) CHECK(std::abs(logarithm(x) - std::log(x)) < 2e-16);
  CHECK(logarithm(0) == -INFINITY);
  CHECK(power(1.75, 40) == Approx(std::pow(1.75, 40)).epsilon(1e-13));
  const auto logits = random_logits(40000, 9);
  double sum = 0;
  for (const float x : logits) sum += std::exp(double(x));
  CHECK(log_sum(logits) == Approx(std::log(sum)).epsilon(1e-6));
}

TEST_CASE("greedy breaks ties by id, and takes the likeliest whatever is cut") {
  const std::vector<float> logits = {2, 3, -1, 3};
  for (const int top_k : {0, 1, 3}) {
    Sampling greedy({.top_k = top_k, .temperature = 0}, 1);
    CHECK(greedy.choose(logits, {}) == 1);
  }
  // What comes after a cut chooses among what it left: 0 was cut, though it is the likeliest once 1 and 3 are
  // penalised.
  const TokenId past[] = {1, 3};
  using inlay::SamplerStep;
  Sampling later({.repeat_penalty = 4,
                  .top_k = 2,
                  .temperature = 0,
                  .order = {SamplerStep::top_k, SamplerStep::penalties, SamplerStep::temperature}},
                 1);
  CHECK(later.choose(logits, past) == 1);
  Sampling earlier({.repeat_penalty = 4, .top_k = 2, .temperature = 0}, 1);
  CHECK(earlier.choose(logits, past) == 0);
}

TEST_CASE("logits that are not finite numbers are an error, not a token") {
  for (const float bad : {std::nanf(""), INFINITY}) {
    for (const std::size_t at : {std::size_t(1), std::size_t(70), std::size_t(99)}) {
      std::vector<float> logits(100, 1);
      logits[at] = bad;
      Sampling sampling({}, 1);
      CHECK_THROWS_AS(sampling.choose(logits, {}), inlay::Error);
    }
  }
  const std::vector<float> none(4, -INFINITY);
  Sampling sampling({}, 1);
  CHECK_THROWS_AS(sampling.choose(none, {}), inlay::Error);
}

}  // namespace
