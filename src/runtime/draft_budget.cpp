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
constexpr std::int64_t doubted = 16;    // the same, where a cost that is too high was measured less than so often:
constexpr std::size_t enough_times = 3;

bool is_known(const DraftCosts::Shares& known, int drafts) { return known[std::size_t(drafts)].times > 0; }

double measured(const DraftCosts::Shares& known, int drafts) {
  return std::max(least_cost * drafts, known[std::size_t(drafts)].usual);
}

// In plain steps. Where so many were not read yet, by the nearest numbers that were: more cost no less, and each no
// more than those before it, though no less than `doubt`. Costs jump where another tile of rows begins.
double cost(const DraftCosts::Shares& known, int drafts, double unknown, double doubt = 0) {
  if (is_known(known, drafts)) return measured(known, drafts);
  int more = drafts, less = drafts;
  while (more <= most_drafts && !is_known(known, more)) ++more;
  while (less > 0 && !is_known(known, less)) --less;
  double share = more <= most_drafts ? measured(known, more) : less > 0 ? HUGE_VAL : unknown * drafts;
  if (less > 0) share = std::min(share, measured(known, less) * drafts / less);
  return std::max(share, doubt * drafts);
}

// What may be wrong of so many drafts.
double risk(const DraftCosts::Shares& known, int drafts) { return cost(known, drafts, feared_cost, hoped_cost); }

// Twice as many rows as ever, at most, so that nothing unknown costs too much.
int most_dared(const DraftCosts::Shares& known) {
  int most = most_drafts;
  while (most > 0 && !is_known(known, most)) --most;
  return std::min(2 * most + 1, most_drafts);
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

DraftCosts::Shares DraftCosts::shares(bool of_model) const {
  std::lock_guard lock(mutex_);
  Shares all;
  std::ranges::transform(costs_[of_model], all.begin(), [](const Recent<>& cost) {
    return cost.empty() ? Share() : Share{cost.median(), cost.count()};
  });
  return all;
}

void DraftCosts::forget() {
  std::lock_guard lock(mutex_);
  costs_ = {};
}

void DraftBudget::token() {
  wastes_[std::size_t(++tokens_ % window)] = 0;
  const auto since = tokens_ - last_draft_;
  if (since == doubted && declined_) retries_ = costs_->shares(false)[1].times < enough_times;
  if (since < forgotten) return;
  last_draft_ = tokens_;
  if (std::exchange(declined_, false)) costs_->forget();
  chances_ = usual_chances;
}

void DraftBudget::draft_step(Trust trust, int drafts, double seconds) {
  if (!plain_.empty()) costs_->add(trust == Trust::model, drafts, seconds / plain_.median() - 1);
  last_draft_ = tokens_;
  declined_ = retries_ = false;
}

void DraftBudget::verdict(Trust trust, int right, bool refuted) {
  auto& chance = chances_[std::size_t(trust)];
  for (int i = 0; i < right; ++i) chance += learning * (1 - chance);
  if (refuted) chance -= learning * chance;
}

void DraftBudget::settle(Trust trust, int drafts, int right) {
  if (right == drafts) return;
  const auto known = costs_->shares(trust == Trust::model);
  const double each = (is_known(known, drafts) ? measured(known, drafts) : 0) * plain_.median() / drafts;
  in_vain(each * (drafts - right));
}

void DraftBudget::in_vain(double seconds) {
  wastes_[std::size_t(tokens_ % window)] += seconds;
  last_draft_ = tokens_;
}

double DraftBudget::wasted() const { return std::accumulate(wastes_.begin(), wastes_.end(), 0.0); }

// In plain steps.
double DraftBudget::room() const {
  return share * double(std::min<std::int64_t>(window, tokens_ + advance)) - wasted() / plain_.median();
}

int DraftBudget::worth(Trust trust, int available) {
  if (plain_.empty()) return 0;
  const auto known = retries_ ? DraftCosts::Shares() : costs_->shares(trust == Trust::model);
  const double left = room();
  double right = 1, gain = 0, best = 0;  // right: the chance that all so far are
  int count = 0;
  for (int n = 1; n <= std::min(available, most_dared(known)); ++n) {
    right *= chance(trust);
    gain += right;
    if (risk(known, n) > left) continue;
    if (const double more = gain - cost(known, n, hoped_cost); more > best) best = more, count = n;
  }
  declined_ |= count == 0 && available > 0;
  return count;
}

int DraftBudget::worth_aside(Trust trust, int drafts, int from, int available) const {
  const auto known = costs_->shares(trust == Trust::model);
  const auto second = trust == Trust::model ? Trust::runner_up : Trust::other;
  const double left = room(), before = cost(known, drafts, hoped_cost);
  double right = std::pow(chance(trust), from) * (1 - chance(trust)) * chance(second), gain = 0, best = 0;
  int count = 0;
  for (int n = 1; n <= std::min(available, most_dared(known) - drafts); ++n, right *= chance(trust)) {
    gain += right;
    if (risk(known, drafts + n) > left) continue;
    if (const double more = gain - (cost(known, drafts + n, hoped_cost) - before); more > best) best = more, count = n;
  }
  return count;
}

}  // namespace inlay::runtime
