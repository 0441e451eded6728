// Proves: every architecture, recurrent and hybrid ones too, says in a batch what it says alone, also when it falls
// back to its tokens in between.
#include "tests/models/golden.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::TokenId;
using support::Ask;
using support::Said;

std::vector<Ask> asks(const support::Golden& golden) {
  std::vector<Ask> all;
  for (const auto& [name, tokens] : golden.sequences) {
    if (all.size() == 3) break;
    const auto n = std::min<std::size_t>(tokens.size(), 21 - 7 * all.size());
    all.push_back({{tokens.begin(), tokens.begin() + std::ptrdiff_t(n)},
                   {.seed = n},
                   {.tokens = 5 + int(all.size()), .ignore_end = true}});
  }
  return all;
}

// The first request gives its place up to the others after its second token.
std::vector<Said> say_interrupted(const inlay::Model& model, const std::vector<Ask>& all) {
  std::vector<Said> said(all.size());
  std::vector<inlay::Session> sessions;
  for (std::size_t i = 0; i < all.size(); ++i) sessions.push_back(model.session());
  inlay::Batch batch(model, {.tokens_per_step = 5, .sessions_at_once = 1});
  const auto submit = [&](std::size_t i, int priority) {
    batch.submit(sessions[i], all[i].prompt, support::hashing(all[i].sampler, said[i].logits), all[i].limits,
                 {.priority = priority});
  };
  submit(0, 0);
  for (const auto& event : batch) {
    INFO(event.error);
    REQUIRE(event.error.empty());
    support::add(said[event.id - 1], event);
    if (event.id == 1 && event.stats.generated_tokens == 2)
      for (std::size_t i = 1; i < all.size(); ++i) submit(i, 1);
  }
  return said;
}

}  // namespace

TEST_CASE("every architecture says in a batch what it says alone, to the bit") {
  for (const auto& golden : support::goldens("arch", "causal")) {
    INFO(golden.name);
    const auto model = inlay::Model::load(golden.model, {.threads = 1});
    const auto all = asks(golden);
    std::vector<Said> expected;
    for (const auto& ask : all) expected.push_back(support::say_alone(model, ask));
    CHECK(support::say_together(model, all, {.tokens_per_step = 6}) == expected);
    CHECK(say_interrupted(model, all) == expected);
    support::count("batched", 1);
  }
}
