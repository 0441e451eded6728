// Proves: drafts that are wrong take less than their share of time over any window, and those that are right save
// steps.
#include "runtime/draft_budget.hpp"

#include <random>

#include "runtime/history.hpp"
#include "tests/support/catch.hpp"

namespace {

using inlay::runtime::alternative;
using inlay::runtime::continuation;
using inlay::runtime::DraftBudget;
using inlay::runtime::DraftCosts;
using inlay::runtime::most_drafts;
using inlay::runtime::Trust;
using inlay::runtime::trusts;

// A model whose plain step takes a second, a session that writes with it, and a source of guesses.
struct Play {
  DraftBudget budget = DraftBudget();
  double each = 0.1, fixed = 0.1;   // seconds of a draft, and of any step with drafts
  std::vector<double> beyond = {};  // or seconds that so many drafts take beyond a plain step
  double seconds = 0;
  std::vector<double> wasted = {};  // for each token
  int drafted = 0;

  template <class Right>
  void step(Trust trust, Right&& right) {
    const int drafts = budget.worth(trust, most_drafts);
    seconds += 1;
    if (drafts == 0) {
      budget.plain_step(1);
      budget.token(), wasted.push_back(0);
      return;
    }
    const double extra = beyond.empty() ? fixed + each * drafts : beyond[std::size_t(drafts)];
    seconds += extra;
    drafted += drafts;
    budget.draft_step(trust, drafts, 1 + extra);
    budget.token(), wasted.push_back(0);
    int came_true = 0;
    for (; came_true < drafts && right(); ++came_true) budget.token(), wasted.push_back(0);
    budget.verdict(trust, came_true, came_true < drafts);
    budget.settle(trust, drafts, came_true);
    wasted.back() += extra * (drafts - came_true) / drafts;
  }

  double most_wasted() const {  // in any window
    double sum = 0, most = 0;
    for (std::size_t i = 0; i < wasted.size(); ++i) {
      sum += wasted[i];
      if (i >= std::size_t(DraftBudget::window)) sum -= wasted[i - std::size_t(DraftBudget::window)];
      most = std::max(most, sum);
    }
    return most;
  }
};

constexpr double most_allowed = DraftBudget::share * DraftBudget::window;  // plain steps of a second

TEST_CASE("wrong drafts stay within their share of any window, however they come") {
  std::mt19937 random(1);
  for (const double chance : {0.0, 0.2, 0.5, 0.9})
    for (const double each : {0.01, 0.1, 0.4}) {
      Play play{.each = each, .fixed = each};
      std::bernoulli_distribution right(chance);
      while (play.wasted.size() < 3000) play.step(Trust(random() % trusts), [&] { return right(random); });
      CAPTURE(chance, each);
      CHECK(play.most_wasted() <= most_allowed);
      CHECK(play.seconds <= double(play.wasted.size()) * (1 + DraftBudget::share));
    }
  // Right for long enough to be trusted with long drafts, then wrong.
  Play play;
  while (play.wasted.size() < 1000) play.step(Trust::sixteen, [] { return true; });
  const double before = play.seconds;
  while (play.wasted.size() < 2000) play.step(Trust::sixteen, [] { return false; });
  CHECK(play.most_wasted() <= most_allowed);
  CHECK(before < 1000 * 0.35);
  CHECK(play.seconds - before <= 1000 + 4 * most_allowed);  // 1000 tokens lie in four windows
}

TEST_CASE("wrong drafts stay within their share where costs jump with the tiles of rows") {
  std::mt19937 random(2);
  for (const double chance : {0.3, 0.7, 0.9}) {
    Play play{.beyond = {0, 0.02, 0.4, 0.23, 0.6, 0.8, 0.96, 0.93, 1.4, 1.6, 1.7, 1.8, 1.9, 2.1, 2.4, 2.6}};
    std::bernoulli_distribution right(chance);
    while (play.wasted.size() < 3000) play.step(Trust(random() % trusts), [&] { return right(random); });
    CAPTURE(chance);
    CHECK(play.most_wasted() <= most_allowed);
    CHECK(play.seconds <= double(play.wasted.size()) * (1 + DraftBudget::share));
    CHECK(play.drafted > 30);
  }
}

TEST_CASE("nothing is drafted where a draft costs as much as a step") {
  Play play{.each = 1.1, .fixed = 0};
  while (play.wasted.size() < 1000) play.step(Trust::sixteen, [] { return true; });
  CHECK(play.drafted < 100);  // it is tried from time to time
  CHECK(play.seconds < 1000 * 1.01);
}

TEST_CASE("guesses that begin to come true are found out") {
  Play play;
  while (play.wasted.size() < 1000) play.step(Trust::two, [] { return false; });
  const double before = play.seconds;
  while (play.wasted.size() < 2000) play.step(Trust::two, [] { return true; });
  CHECK(play.seconds - before < 1000 * 0.7);
}

TEST_CASE("a long guess is read where every part of it is likely") {
  Play play;
  for (int i = 0; i < 400; ++i) play.step(Trust::grammar, [] { return true; });
  CHECK(play.budget.chance(Trust::grammar) > 0.99);
  CHECK(play.budget.worth(Trust::grammar, most_drafts) == most_drafts);
  CHECK(play.budget.worth(Trust::grammar, 3) == 3);
  CHECK(play.budget.worth(Trust::grammar, 0) == 0);
  CHECK(DraftBudget().worth(Trust::grammar, 5) == 0);  // before it is known what a plain step takes
}

TEST_CASE("what drafts cost in one session is known in the next") {
  const auto costs = std::make_shared<DraftCosts>();
  Play first{.budget = DraftBudget(costs)}, second{.budget = DraftBudget(costs)};
  for (int i = 0; i < 200; ++i) first.step(Trust::sixteen, [] { return true; });
  second.step(Trust::sixteen, [] { return true; });
  second.step(Trust::sixteen, [] { return true; });
  CHECK(second.drafted > 4);  // where nothing is known, one is tried first
  Play alone;
  alone.step(Trust::sixteen, [] { return true; });
  alone.step(Trust::sixteen, [] { return true; });
  CHECK(alone.drafted == 1);
  for (int i = 0; i < 9; ++i) costs->add(false, 1, 2), costs->add(false, most_drafts, 30);
  costs->forget();
  CHECK(costs->shares(false)[1].times == 0);
}

TEST_CASE("a cost that was high once is measured again") {
  const auto costs = std::make_shared<DraftCosts>();
  costs->add(false, 1, 5);  // something else held that step up
  Play play{.budget = DraftBudget(costs)};
  while (play.wasted.size() < 100) play.step(Trust::sixteen, [] { return true; });
  CHECK(play.drafted > 40);
}

TEST_CASE("a second guess is read where the first is doubtful and rows are cheap") {
  for (const double each : {0.01, 0.5}) {
    DraftBudget budget;
    budget.plain_step(1);
    for (int n = 1; n <= most_drafts; ++n) budget.draft_step(Trust::two, n, 1 + each * n);
    for (int i = 0; i < 300; ++i) budget.token();
    budget.plain_step(1);
    for (int n = 1; n <= most_drafts; ++n) budget.draft_step(Trust::two, n, 1 + each * n);
    CHECK((budget.worth_aside(Trust::two, 3, 0, 4) > 0) == (each < 0.1));
    CHECK(budget.worth_aside(Trust::two, most_drafts, 0, 4) == 0);
    CHECK(budget.worth_aside(Trust::two, 3, 0, 0) == 0);
    budget.verdict(Trust::other, 0, true);
    CHECK(budget.chance(Trust::other) < DraftBudget().chance(Trust::other));
  }
}

TEST_CASE("another continuation is the one of the longest run that parts from the first") {
  std::mt19937 random(8);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> text(random() % 40 + 1);
    for (auto& x : text) x = int(random() % 3);
    const auto history = std::span<const int>(text);
    const auto first = continuation(history, 5).what;
    const std::size_t length = std::min<std::size_t>(4, first.size());
    std::size_t match = 0, from = 0, at = text.size();
    for (std::size_t end = 1; end < text.size(); ++end) {
      std::size_t same = 0, shared = 0;
      while (same < end && same < 5 && text[end - 1 - same] == text[text.size() - 1 - same]) ++same;
      while (shared < length && end + shared < text.size() && text[end + shared] == first[shared]) ++shared;
      if (same >= 2 && same >= match && shared < length && end + shared < text.size())
        match = same, from = shared, at = end + shared;
    }
    const auto found = alternative(history, first, length, 2, 5);
    CHECK(found.match == match);
    if (match == 0) continue;
    CHECK(found.from == from);
    CHECK(found.what.data() == text.data() + at);
  }
}

TEST_CASE("a text goes on as it did after the longest run that is like its end") {
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    std::vector<int> text(random() % 40);
    for (auto& x : text) x = int(random() % 3);
    std::size_t match = 0, at = text.size();
    for (std::size_t end = 1; end < text.size(); ++end) {  // all of them, in the plainest way
      std::size_t same = 0;
      while (same < end && same < 5 && text[end - 1 - same] == text[text.size() - 1 - same]) ++same;
      if (same > 0 && same >= match) match = same, at = end;
    }
    const auto found = continuation(std::span<const int>(text), 5);
    CHECK(found.match == match);
    CHECK(found.what.size() == text.size() - at);
  }
}

}  // namespace
