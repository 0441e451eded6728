// What drafts cost, how often they are right, and how much of them may be wrong.
#include "runtime/draft_budget.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

namespace inlay::runtime {

namespace {

constexpr double hoped_cost = 0.25, feared_cost = 1;  // of a draft, in plain steps, before any was read
constexpr double least_cost = 0.03;                   // whatever was measured: nothing is for free
constexpr double learning = 0.125;
constexpr std::int64_t advance = 34;    // tokens that a session may waste a share of before they are made: one draft
constexpr std::int64_t forgotten = 64;  // tokens without a draft, after which another try is due

}  // namespace

Trust trust_in_match(std::size_t length) {
  const int doublings = std::clamp(int(std::bit_width(length)), 2, 5) - 2;
  return Trust(int(Trust::two) + doublings);
}

void DraftBudget::token() {
  wastes_[std::size_t(++tokens_ % window)] = 0;
  if (tokens_ - last_draft_ < forgotten) return;
  last_draft_ = tokens_;
  costs_ = {};
  chances_ = usual_chances;
}

void DraftBudget::draft_step(Trust trust, int drafts, double seconds) {
  costs_[trust == Trust::model][std::size_t(drafts)].add(seconds);
  last_draft_ = tokens_;
}

void DraftBudget::verdict(Trust trust, int drafts, int right, bool refuted) {
  auto& chance = chances_[std::size_t(trust)];
  for (int i = 0; i < right; ++i) chance += learning * (1 - chance);
  if (refuted) chance -= learning * chance;
  if (right == drafts) return;
  in_vain(cost(trust, drafts, 0) * (drafts - right) / drafts);
}

void DraftBudget::in_vain(double seconds) {
  wastes_[std::size_t(tokens_ % window)] += seconds;
  last_draft_ = tokens_;
}

// Of the nearest number of drafts whose cost is known: more cost no less, and each no more than those before it.
double DraftBudget::cost(Trust trust, int drafts, double unknown) const {
  const auto& known = costs(trust);
  const double plain = plain_.least();
  double least = 0;
  bool found = false;
  const auto consider = [&](int n, double factor) {
    const double seconds = std::max(least_cost * n * plain, known[std::size_t(n)].least() - plain) * factor;
    least = found ? std::min(least, seconds) : seconds;
    found = true;
  };
  for (int n = drafts; n <= most && !found; ++n)
    if (!known[std::size_t(n)].empty()) consider(n, 1);
  for (int n = drafts - 1; n > 0; --n)
    if (!known[std::size_t(n)].empty()) {
      consider(n, double(drafts) / n);
      break;
    }
  return found ? least : unknown * plain * drafts;
}

double DraftBudget::wasted() const { return std::accumulate(wastes_.begin(), wastes_.end(), 0.0); }

double DraftBudget::room() const {
  return share * plain_.least() * double(std::min<std::int64_t>(window, tokens_ + advance)) - wasted();
}

int DraftBudget::worth(Trust trust, int available) const {
  if (plain_.empty()) return 0;
  const double left = room(), plain = plain_.least();
  double right = 1, gain = 0, best = 0;  // right: the chance that all so far are
  int count = 0;
  for (int n = 1; n <= std::min(available, most); ++n) {
    right *= chance(trust);
    gain += right * plain;
    if (cost(trust, n, feared_cost) > left) continue;
    if (const double more = gain - cost(trust, n, hoped_cost); more > best) best = more, count = n;
  }
  return count;
}

}  // namespace inlay::runtime
