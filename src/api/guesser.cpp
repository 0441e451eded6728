// Putting a guess together while it is likely enough to come true.
#include "api/guesser.hpp"

#include <algorithm>
#include <cmath>

#include "runtime/sampling.hpp"

namespace inlay {
inline namespace v0 {

namespace {

constexpr double least_chance = 0.3;  // by the guesser's own account, that all of it is right

// The likeliest but one; of a single one, that.
std::size_t runner_up(std::span<const float> logits, std::ptrdiff_t likeliest) {
  std::size_t best = likeliest == 0 ? logits.size() - 1 : 0;
  for (std::size_t i = 0; i < logits.size(); ++i)
    if (logits[i] > logits[best] && std::ptrdiff_t(i) != likeliest) best = i;
  return best;
}

}  // namespace

bool Forecast::add(std::span<const float> logits) {
  const auto likeliest = std::max_element(logits.begin(), logits.end());
  const double total = runtime::log_sum(logits), before = chance_;
  chance_ *= std::exp(double(*likeliest) - total);
  if (!guess_.tokens.empty() && chance_ < least_chance) return false;
  const auto second = runner_up(logits, likeliest - logits.begin());
  if (const double chance = before * std::exp(double(logits[second]) - total); chance > side_chance_) {
    side_chance_ = chance;
    guess_.from = guess_.tokens.size(), guess_.side = {TokenId(second)};
  }
  guess_.tokens.push_back(TokenId(likeliest - logits.begin()));
  return guess_.tokens.size() < most_;
}

}  // namespace v0
}  // namespace inlay
