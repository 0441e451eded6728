// Proves: each step of a sampler leaves the distribution that its formula says, and the draws that carry a state follow
// theirs from token to token.
#include "tests/runtime/distribution.hpp"

namespace {

using namespace distribution;
using inlay::SamplerStep;

double entropy(const std::vector<double>& p) {
  double sum = 0;
  for (const double x : p) sum -= x > 0 ? x * std::log(x) : 0;
  return sum;
}

void check_step(const Sampler& recipe, const std::vector<float>& logits, const Rows& expected) {
  Sampling sampling(recipe, 7);
  check_equal(left_by(sampling, logits), probabilities(expected));
  check_draws(draws(sampling, logits, 20000), probabilities(expected), 20000);
}

TEST_CASE("bias is added, and minus infinity forbids") {
  const std::vector<float> logits = {1, 2, 3, 4};
  auto recipe = plain();
  recipe.bias = {{3, -INFINITY}, {0, 1.5f}, {0, 0.5f}, {99, 3}, {-1, 3}};
  check_step(recipe, logits, {{0, 3}, {1, 2}, {2, 3}});
}

TEST_CASE("penalties divide once and subtract for every time, within their window") {
  const std::vector<float> logits = {2, -1, 3, 0.5f, 1};
  const std::vector<TokenId> past = {4, 4, 0, 1, 1, 1};  // the window of 4 sees 0 once and 1 three times
  auto recipe = plain();
  recipe.repeat_penalty = 2, recipe.frequency_penalty = 0.25f, recipe.presence_penalty = 0.5f, recipe.repeat_window = 4;
  const Rows rows = {{2, 3}, {4, 1}, {3, 0.5}, {0, 2 / 2.0 - 0.25 - 0.5}, {1, -1 * 2.0 - 3 * 0.25 - 0.5}};
  Sampling whole(recipe, 1);
  check_equal(left_by(whole, logits, {}, past), probabilities(rows));
  recipe.top_k = 3;  // and on a list: 1 and 3 are gone
  recipe.order = {SamplerStep::top_k, SamplerStep::penalties};
  Sampling list(recipe, 1);
  check_equal(left_by(list, logits, {}, past), probabilities({rows[0], rows[1], rows[3]}));
}

TEST_CASE("dry penalises the token that would make a repetition longer") {
  const std::vector<float> logits(10, 1);
  auto recipe = plain();
  recipe.dry_multiplier = 0.8f, recipe.dry_base = 1.5f, recipe.dry_allowed = 2, recipe.dry_window = -1;
  // ... 1 2 3 came before 4, and 2 3 before 5: the longer one gives 4 its penalty.
  const std::vector<TokenId> past = {1, 2, 3, 4, 9, 2, 3, 5, 1, 2, 3};
  Rows rows;
  for (TokenId id = 0; id < 10; ++id)
    rows.push_back({id, 1 - (id == 4 ? 0.8 * std::pow(1.5, 3 - 2) : id == 5 ? 0.8 : 0)});
  Sampling all(recipe, 1);
  check_equal(left_by(all, logits, {}, past), probabilities(rows));
  recipe.dry_window = 5;  // 3 5 1 2 3 repeats nothing of two tokens
  Sampling narrow(recipe, 1);
  CHECK(left_by(narrow, logits, "dry", past).at(4) == Approx(0.1));
}

TEST_CASE("top_n_sigma forbids what lies deviations below the largest") {
  auto logits = random_logits(300, 3);
  logits[17] = -INFINITY;  // counts neither for the mean nor for the deviation
  double mean = 0, variance = 0;
  for (const float x : logits) mean += std::isinf(x) ? 0 : double(x) / 299;
  for (const float x : logits) variance += std::isinf(x) ? 0 : (x - mean) * (x - mean) / 299;
  auto rows = sorted(logits);
  std::erase_if(rows, [&, least = rows[0].logit - 1.5 * std::sqrt(variance)](const Row& r) { return r.logit < least; });
  auto recipe = plain();
  recipe.top_n_sigma = 1.5f;
  check_step(recipe, logits, rows);
}

TEST_CASE("typical_p keeps the tokens of the most expected surprise") {
  const auto logits = random_logits(60, 4);
  const auto rows = sorted(logits);
  const auto p = softmax(rows);
  std::vector<std::pair<double, std::size_t>> distance;
  for (std::size_t i = 0; i < p.size(); ++i) distance.push_back({std::abs(-std::log(p[i]) - entropy(p)), i});
  std::sort(distance.begin(), distance.end());
  for (const int min_keep : {0, 30}) {
    Rows kept;
    double sum = 0;
    for (const auto& [d, i] : distance) {
      kept.push_back(rows[i]);
      sum += p[i];
      if (sum > double(0.7f) && int(kept.size()) >= min_keep) break;
    }
    std::sort(kept.begin(), kept.end(), [](const Row& a, const Row& b) { return a.logit > b.logit; });
    auto recipe = plain();
    recipe.typical_p = 0.7f, recipe.min_keep = min_keep;
    check_step(recipe, logits, kept);
  }
}

TEST_CASE("min_keep holds for top_p and min_p") {
  const std::vector<float> logits = {5, 1, 0.5f, 0, -1};
  const auto rows = sorted(logits);
  auto recipe = plain();
  recipe.min_keep = 3, recipe.top_p = 0.5f;
  check_step(recipe, logits, Rows(rows.begin(), rows.begin() + 3));
  recipe.top_p = 1, recipe.min_p = 0.5f;
  check_step(recipe, logits, Rows(rows.begin(), rows.begin() + 3));
}

TEST_CASE("xtc excludes, as often as it says, all choices above the threshold but the last") {
  const std::vector<float> logits = {3, 2.8f, 2.5f, 0, -1, 2.7f};
  const auto rows = sorted(logits);
  const auto p = softmax(rows);
  const auto above = std::count_if(p.begin(), p.end(), [](double x) { return x >= 0.15; });
  REQUIRE(above == 4);
  auto recipe = plain();
  recipe.xtc_probability = 0.4f, recipe.xtc_threshold = 0.15f;
  const auto whole = probabilities(rows), cut = probabilities(Rows(rows.begin() + 3, rows.end()));
  Probabilities mixture;
  for (const auto& [id, q] : whole) mixture[id] = 0.6 * q + (cut.contains(id) ? 0.4 * cut.at(id) : 0);
  Sampling sampling(recipe, 3);
  check_draws(draws(sampling, logits, 40000), mixture, 40000);
  recipe.xtc_probability = 1, recipe.min_keep = 4;  // too few would be left
  check_step(recipe, logits, rows);
  recipe.min_keep = 0, recipe.xtc_threshold = 0.51f;
  Sampling never(recipe, 3);
  check_draws(draws(never, logits, 20000), whole, 20000);
}

TEST_CASE("the temperature follows the entropy") {
  const auto logits = random_logits(40, 5);
  auto rows = sorted(logits);
  const double range = 0.5f, exponent = 1.5f;
  const double h = entropy(softmax(rows)) / std::log(40.0), least = std::max(0.0, 0.8 - range), most = 0.8 + range;
  for (auto& row : rows) row.logit /= least + (most - least) * std::pow(h, exponent);
  auto recipe = plain();
  recipe.temperature = 0.8f, recipe.temperature_range = 0.5f, recipe.temperature_exponent = 1.5f;
  check_step(recipe, logits, rows);
}

// How many tokens mirostat keeps, by its formulas.
std::size_t mirostat_count(int version, const std::vector<double>& p, double mu) {
  if (version == 2) {
    std::size_t n = 1;
    while (n < p.size() && -std::log2(p[n]) <= mu) ++n;
    return n;
  }
  double products = 0, squares = 0;
  for (std::size_t i = 0; i + 1 < std::min<std::size_t>(100, p.size()); ++i) {
    const double t = std::log(double(i + 2) / double(i + 1)), b = std::log(p[i] / p[i + 1]);
    products += t * b, squares += t * t;
  }
  const double s = products / squares, epsilon = s - 1;
  const double k = std::pow(epsilon * std::pow(2, mu) / (1 - std::pow(double(p.size()), -epsilon)), 1 / s);
  return std::min(p.size(), std::size_t(std::max(1.0, std::floor(k))));
}

TEST_CASE("mirostat keeps surprise near its target, step by step as its formulas say") {
  for (const int version : {1, 2}) {
    auto recipe = plain();
    recipe.mirostat = version, recipe.mirostat_tau = 3, recipe.mirostat_eta = 0.2f;
    Sampling sampling(recipe, 11);
    double mu = 6;
    for (unsigned step = 0; step < 60; ++step) {
      const auto logits = random_logits(400, step);
      auto rows = sorted(logits);
      rows.resize(mirostat_count(version, softmax(rows), mu));
      const auto left = probabilities(rows);
      Probabilities seen;
      const auto id = sampling.choose(logits, {}, [&](std::string_view, Candidates& candidates) {
        candidates.each([&](TokenId token, float logit) { seen[token] = std::exp(double(logit) - rows[0].logit); });
      });
      REQUIRE(seen.size() == left.size());
      mu -= double(0.2f) * (-std::log2(left.at(id)) - 3);
    }
    auto fixed = recipe;
    fixed.mirostat_eta = 0;
    Sampling still(fixed, 5);
    const auto logits = random_logits(400, 99);
    auto rows = sorted(logits);
    rows.resize(mirostat_count(version, softmax(rows), 6));
    check_draws(draws(still, logits, 20000), probabilities(rows), 20000);
  }
}

TEST_CASE("adaptive draws steer towards the target, step by step as their formulas say") {
  auto recipe = plain();
  recipe.min_p = 0.01f, recipe.adaptive_target = 0.3f, recipe.adaptive_decay = 0.8f;
  Sampling sampling(recipe, 2);
  const double target = 0.3f, decay = 0.8f;
  double s = target / (1 - decay), w = 1 / (1 - decay);
  for (unsigned step = 0; step < 60; ++step) {
    const auto logits = random_logits(80, step);
    auto rows = sorted(logits);
    std::erase_if(rows, [&, top = rows[0].logit](const Row& r) { return r.logit < top + std::log(double(0.01f)); });
    const auto original = softmax(rows);
    const double wanted = std::clamp(2 * target - s / w, 0.0, 1.0);
    Probabilities expected;
    double total = 0;
    for (const double p : original) {
      const double x = std::abs(p - wanted) / 0.3;
      total += std::exp(5 - 10 * x * x / (1 + x));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const double x = std::abs(original[i] - wanted) / 0.3;
      expected[rows[i].id] = std::exp(5 - 10 * x * x / (1 + x)) / total;
    }
    Probabilities seen;
    const auto id = sampling.choose(logits, {}, [&](std::string_view name, Candidates& candidates) {
      if (name != "adaptive") return;
      const double top = candidates.largest(), mass = candidates.mass();
      candidates.each([&](TokenId token, float logit) { seen[token] = std::exp(double(logit) - top) / mass; });
    });
    check_equal(seen, expected);
    for (std::size_t i = 0; i < rows.size(); ++i)
      if (rows[i].id == id) s = original[i] + decay * s;
    w = 1 + decay * w;
  }
}

TEST_CASE("a recipe is told as it runs, and wrong values are refused by name") {
  using inlay::runtime::describe;
  CHECK(describe({}) == "top_k 40 -> top_p 0.95 -> min_p 0.05 -> temperature 0.8 -> draw");
  CHECK(describe({.bias = {{1, 2}}, .repeat_penalty = 1.1f, .xtc_probability = 0.5f, .temperature_range = 0.2f}) ==
        "bias 1 tokens -> penalties repeat 1.1 frequency 0 presence 0 window 64 -> top_k 40 -> top_p 0.95 -> "
        "min_p 0.05 -> xtc 0.5 threshold 0.1 -> temperature 0.8 range 0.2 exponent 1 -> draw");
  CHECK(describe({.mirostat = 2}) == "temperature 0.8 -> mirostat 2 tau 5 eta 0.1");
  CHECK(describe({.adaptive_target = 0.5f, .order = {SamplerStep::min_p, SamplerStep::top_k}}) ==
        "min_p 0.05 -> top_k 40 -> adaptive 0.5 decay 0.9");
  const auto field_at_fault = [](const Sampler& recipe) {
    try {
      Sampling sampling(recipe, 1);
    } catch (const inlay::Error& error) {
      return std::string(error.where());
    }
    return std::string();
  };
  CHECK(field_at_fault({.temperature = std::nanf("")}) == "temperature");
  CHECK(field_at_fault({.dry_base = 0.5f}) == "dry_base");
  CHECK(field_at_fault({.mirostat = 3}) == "mirostat");
  CHECK(field_at_fault({.mirostat = 1, .adaptive_target = 0.1f}) == "adaptive_target");
  CHECK(field_at_fault({.bias = {{0, INFINITY}}}) == "bias");
  CHECK(field_at_fault({.order = {SamplerStep(77)}}) == "order");
  CHECK(field_at_fault({.order = {SamplerStep::infill}}) == "order");
}

}  // namespace
