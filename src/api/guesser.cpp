// Putting a guess together while it is likely enough to come true.
#include "api/guesser.hpp"

#include <cmath>

#include "api/row_passes.hpp"

namespace inlay {
inline namespace v0 {

namespace {

constexpr double least_chance = 0.3;  // by the guesser's own account, that all of it is right

}  // namespace

Forecast::Forecast(std::size_t most, Guess& guess)
    : most_(most),
      guess_(guess),
      maxima_(row_passes(), guess.tokens.get_allocator().resource()),
      leading_(guess.tokens.get_allocator().resource()) {}

bool Forecast::add(std::span<const float> logits) {
  maxima_.find(logits);
  maxima_.likeliest(logits, 2, leading_);
  const auto first = leading_.front(), second = leading_.back();
  const double total = maxima_.log_sum(logits), before = chance_;
  chance_ *= std::exp(double(first.logit) - total);
  if (!guess_.tokens.empty() && chance_ < least_chance) return false;
  if (const double chance = before * std::exp(double(second.logit) - total); chance > side_chance_) {
    side_chance_ = chance;
    guess_.from = guess_.tokens.size(), guess_.side.assign(1, second.id);
  }
  guess_.tokens.push_back(first.id);
  return guess_.tokens.size() < most_;
}

}  // namespace v0
}  // namespace inlay
