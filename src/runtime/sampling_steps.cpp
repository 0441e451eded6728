// Truncation and temperature, each as its formula.
#include "runtime/sampling_steps.hpp"

#include <cmath>
#include <limits>
#include <numeric>

#include "runtime/elementary.hpp"

namespace inlay::runtime {

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// -sum of p ln p; a probability of 0 adds nothing.
double entropy(std::span<const double> p) {
  double sum = 0;
  for (const double x : p)
    if (x > 0) sum -= x * logarithm(x);
  return sum;
}

}  // namespace

std::pmr::vector<double> probabilities(const Candidates& candidates) {
  const double top = candidates.largest(), mass = candidates.mass();
  std::pmr::vector<double> p(candidates.memory());
  p.reserve(candidates.size());
  candidates.each([&](TokenId, float logit) { p.push_back(exponential(double(logit) - top) / mass); });
  return p;
}

void cut_top_n_sigma(Candidates& candidates, double n) {
  double sum = 0, squares = 0, count = 0;
  candidates.each([&](TokenId, float logit) {
    if (logit > -infinity) sum += logit, count += 1;
  });
  const double mean = sum / count;
  candidates.each([&](TokenId, float logit) {
    if (logit > -infinity) squares += (logit - mean) * (logit - mean);
  });
  const double least = candidates.largest() - n * std::sqrt(squares / count);
  candidates.rescale([&](float logit) { return logit < least ? -infinity : logit; });
}

void cut_typical(Candidates& candidates, double p, std::size_t min_keep) {
  auto& list = candidates.list();
  const auto probability = probabilities(candidates);
  const double expected = entropy(probability);
  std::pmr::vector<double> distance(candidates.memory());
  for (const double x : probability) distance.push_back(std::abs(-logarithm(x) - expected));
  std::pmr::vector<std::size_t> order(list.size(), candidates.memory());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return distance[a] != distance[b] ? distance[a] < distance[b] : a < b; });
  CandidateList kept(candidates.memory());
  double sum = 0;
  for (const auto i : order) {
    kept.push_back(list[i]);
    sum += probability[i];
    if (sum > p && kept.size() >= min_keep) break;
  }
  std::sort(kept.begin(), kept.end(), before);
  list = std::move(kept);
}

void cut_top_p(Candidates& candidates, double p, std::size_t min_keep) {
  const double top = candidates.largest(), target = p * candidates.mass();
  double sum = 0;
  std::size_t count = 0;
  for (std::size_t looked_at = 256;; looked_at *= 8) {  // of a whole vocabulary, few are needed
    const auto leading = candidates.leading(looked_at);
    for (; count < leading.size(); ++count) {
      if (sum >= target && count >= std::max<std::size_t>(min_keep, 1)) return candidates.keep_leading(count);
      sum += exponential(double(leading[count].logit) - top);
    }
    if (looked_at >= candidates.size()) return candidates.keep_leading(count);
  }
}

void cut_min_p(Candidates& candidates, double p, std::size_t min_keep) {
  const double least = candidates.largest() + logarithm(p);
  std::size_t count = 0;
  candidates.each([&](TokenId, float logit) { count += double(logit) >= least; });
  candidates.keep_likeliest(std::max({count, min_keep, std::size_t(1)}));
}

void cut_xtc(Candidates& candidates, double probability, double threshold, std::size_t min_keep, Random& random) {
  if (candidates.size() < 2 || random.uniform() > probability) return;
  auto& list = candidates.list();
  const auto p = probabilities(candidates);
  std::size_t above = 0;
  while (above < p.size() && p[above] >= threshold) ++above;
  if (above < 2 || list.size() - (above - 1) < min_keep) return;
  list.erase(list.begin(), list.begin() + std::ptrdiff_t(above - 1));
}

void heat(Candidates& candidates, double temperature) {
  if (temperature <= 0) return candidates.keep_likeliest(1);
  const auto divisor = float(temperature);
  candidates.rescale([&](float logit) { return std::min(logit / divisor, std::numeric_limits<float>::max()); });
}

void heat_by_entropy(Candidates& candidates, double temperature, double range, double exponent) {
  if (candidates.size() < 2) return heat(candidates, temperature);
  const double uncertain = entropy(probabilities(candidates)) / logarithm(double(candidates.size()));
  const double least = std::max(0.0, temperature - range), most = temperature + range;
  heat(candidates, least + (most - least) * (uncertain > 0 ? power(uncertain, exponent) : 0));
}

}  // namespace inlay::runtime
