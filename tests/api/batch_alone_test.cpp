// Proves: a request that is alone in its batch guesses, and says what it says without guesses, whoever comes and goes.
#include <map>

#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Batch;
using inlay::Sampler;
using support::Said;

// A text that repeats itself, so that there is something to guess.
const char* const rhyme =
    "The red fox and the old owl live in the house. The red fox and the old owl live in the house. The red fox and the "
    "old owl live in the house. The red fox and the";

struct Result {
  Said said = {};
  std::vector<std::byte> session = {};
  bool operator==(const Result&) const = default;
};

Result plain(const inlay::Model& model, const Sampler& sampler, const inlay::Limits& limits) {
  Result result;
  auto session = model.session({.speculate = false});
  auto reply = session.generate(rhyme, sampler, limits);
  for (const auto& token : reply) support::add(result.said, token);
  result.said.finish = reply.finish();
  result.session = session.save();
  return result;
}

const inlay::Limits limits{.tokens = 80, .stop = {"owl sleeps"}, .top_logprobs = 2, .ignore_end = true};

std::vector<Sampler> samplers() {
  return {Sampler::greedy(),
          {.temperature = 0.4f, .seed = 1},
          {.repeat_penalty = 1.1f, .seed = 2},
          {.grammar = inlay::Grammar::regex("( [a-z]+){4,60}[.]"), .temperature = 0.5f, .seed = 3}};
}

TEST_CASE("a request that is alone guesses, and says the same") {
  const auto model = support::load_nano({.page = 5});
  int right = 0;
  for (const auto& sampler : samplers()) {
    INFO(sampler.describe());
    auto session = model.session();
    Batch batch(model);
    batch.submit(session, rhyme, sampler, limits);
    Result result;
    for (const auto& event : batch) {
      REQUIRE(event.error.empty());
      support::let_guesses_pay(model, session);
      support::add(result.said, event);
      if (event.finish == inlay::Finish::running) continue;
      right += event.stats.accepted_tokens;
      CHECK(event.stats.accepted_tokens <= event.stats.drafted_tokens);
    }
    result.session = session.save();
    CHECK(result == plain(model, sampler, limits));
  }
  CHECK(right > 20);
}

TEST_CASE("requests that join in the middle of guesses change nothing, and neither does a cancel") {
  const auto model = support::load_nano({.page = 5});
  std::map<std::size_t, Result> expected;
  for (std::size_t i = 0; i < samplers().size(); ++i) expected[i] = plain(model, samplers()[i], limits);
  for (const int join : {20, 31, 42}) {
    Batch batch(model);
    std::vector<inlay::Session> sessions;
    for (std::size_t i = 0; i < samplers().size(); ++i) sessions.push_back(model.session());
    auto doomed = model.session();
    std::map<std::size_t, Result> results;
    std::size_t submitted = 0;
    const auto submit = [&] {
      CHECK(batch.submit(sessions[submitted], rhyme, samplers()[submitted], limits) == submitted + 1);
      ++submitted;
    };
    submit();
    int seen = 0;
    for (const auto& event : batch) {
      REQUIRE(event.error.empty());
      support::let_guesses_pay(model);
      if (event.id <= sessions.size()) support::add(results[event.id - 1].said, event);
      if (++seen % join == 0 && submitted < sessions.size()) submit();
    }
    // One that is cancelled while it guesses keeps what was seen.
    const auto id = batch.submit(doomed, rhyme, Sampler::greedy(), limits);
    Said part;
    for (const auto& event : batch) {
      support::add(part, event);
      if (event.stats.generated_tokens == join) batch.cancel(id);
    }
    const auto& whole = expected[0].said.tokens;
    CHECK(part.tokens == std::vector<inlay::TokenId>(whole.begin(), whole.begin() + join));
    CHECK(doomed.tokens().size() == model.tokenize(rhyme, {.specials = true}).size() + std::size_t(join));
    for (std::size_t i = 0; i < sessions.size(); ++i) results[i].session = sessions[i].save();
    CHECK(results == expected);
  }
}

}  // namespace
