// What drafts cost, how often they are right, and how much of them may be wrong.
#include "runtime/draft_budget.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <utility>

namespace inlay::runtime {

namespace {

constexpr double hoped_cost = 0.25, feared_cost = 1;  // of a draft, in plain steps, before any was read
constexpr double least_cost = 0.03;                   // whatever was measured: nothing is for free
constexpr double learning = 0.125;
constexpr std::int64_t advance = 34;    // tokens that a session may waste a share of before they are made: one draft
constexpr std::int64_t forgotten = 64;  // tokens without a draft, after which another try is due

// Of the nearest number of drafts whose cost is known: more cost no less, and each no more than those before it.
double cost(const DraftCosts::Shares& known, int drafts, double unknown) {
  double least = -1;
  const auto consider = [&](int n, double factor) {
    const double share = std::max(least_cost * n, known[std::size_t(n)]) * factor;
    least = least < 0 ? share : std::min(least, share);
  };
  const auto is_known = [&](int n) { return known[std::size_t(n)] >= 0; };
  int n = drafts;
  while (n <= most_drafts && !is_known(n)) ++n;
  if (n <= most_drafts) consider(n, 1);
  for (n = drafts - 1; n > 0 && !is_known(n);) --n;
  if (n > 0) consider(n, double(drafts) / n);
  return least < 0 ? unknown * drafts : least;
}

}  // namespace

Trust trust_in_match(std::size_t length) {
  const int doublings = std::clamp(int(std::bit_width(length)), 2, 5) - 2;
  return Trust(int(Trust::two) + doublings);
}

void DraftCosts::add(bool of_model, int drafts, double share) {
  std::lock_guard lock(mutex_);
  costs_[of_model][std::size_t(drafts)].add(share);
}

DraftCosts::Shares DraftCosts::least(bool of_model) const {
  std::lock_guard lock(mutex_);
  Shares shares;
  std::ranges::transform(costs_[of_model], shares.begin(),
                         [](const Recent& cost) { return cost.empty() ? -1 : std::max(0.0, cost.least()); });
  return shares;
}

void DraftCosts::forget() {
  std::lock_guard lock(mutex_);
  costs_ = {};
}

void DraftBudget::token() {
  wastes_[std::size_t(++tokens_ % window)] = 0;
  if (tokens_ - last_draft_ < forgotten) return;
  last_draft_ = tokens_;
  if (std::exchange(declined_, false)) costs_->forget();
  chances_ = usual_chances;
}

void DraftBudget::draft_step(Trust trust, int drafts, double seconds) {
  if (!plain_.empty()) costs_->add(trust == Trust::model, drafts, seconds / plain_.least() - 1);
  last_draft_ = tokens_;
  declined_ = false;
}

void DraftBudget::verdict(Trust trust, int right, bool refuted) {
  auto& chance = chances_[std::size_t(trust)];
  for (int i = 0; i < right; ++i) chance += learning * (1 - chance);
  if (refuted) chance -= learning * chance;
}

void DraftBudget::settle(Trust trust, int drafts, int right) {
  if (right == drafts) return;
  const double each = cost(costs_->least(trust == Trust::model), drafts, 0) * plain_.least() / drafts;
  in_vain(each * (drafts - right));
}

void DraftBudget::in_vain(double seconds) {
  wastes_[std::size_t(tokens_ % window)] += seconds;
  last_draft_ = tokens_;
}

double DraftBudget::wasted() const { return std::accumulate(wastes_.begin(), wastes_.end(), 0.0); }

// In plain steps.
double DraftBudget::room() const {
  return share * double(std::min<std::int64_t>(window, tokens_ + advance)) - wasted() / plain_.least();
}

int DraftBudget::worth(Trust trust, int available) {
  if (plain_.empty()) return 0;
  const auto known = costs_->least(trust == Trust::model);
  const double left = room();
  double right = 1, gain = 0, best = 0;  // right: the chance that all so far are
  int count = 0;
  for (int n = 1; n <= std::min(available, most_drafts); ++n) {
    right *= chance(trust);
    gain += right;
    if (cost(known, n, feared_cost) > left) continue;
    if (const double more = gain - cost(known, n, hoped_cost); more > best) best = more, count = n;
  }
  declined_ |= count == 0 && available > 0;
  return count;
}

int DraftBudget::worth_aside(Trust trust, int drafts, int from, int available) const {
  const auto known = costs_->least(trust == Trust::model);
  const auto second = trust == Trust::model ? Trust::runner_up : Trust::other;
  const double left = room(), before = cost(known, drafts, hoped_cost);
  double right = std::pow(chance(trust), from) * (1 - chance(trust)) * chance(second), gain = 0, best = 0;
  int count = 0;
  for (int n = 1; n <= std::min(available, most_drafts - drafts); ++n, right *= chance(trust)) {
    gain += right;
    if (cost(known, drafts + n, feared_cost) > left) continue;
    if (const double more = gain - (cost(known, drafts + n, hoped_cost) - before); more > best) best = more, count = n;
  }
  return count;
}

}  // namespace inlay::runtime
