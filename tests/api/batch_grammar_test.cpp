// Proves: what is chosen side by side, or found out while a step runs, is what a request says alone.
#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;
using inlay::TokenId;
using support::Said;
using support::text;

// Requests that share grammars, have one of their own, or none; every third one has a function of the host.
struct Request {
  std::vector<TokenId> prompt;
  Sampler sampler;
  inlay::Limits limits;
  bool adjusts;
};

std::vector<Request> requests() {
  const auto schema = inlay::Grammar::json_schema(
      R"({"type": "object", "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
          "required": ["name", "age"]})");
  const auto words = inlay::Grammar::regex("(red|green|blue)( (red|green|blue)){1,2}");
  std::vector<Request> all;
  for (TokenId i = 0; i < 12; ++i) {
    Sampler sampler{.seed = std::uint64_t(i)};
    sampler.grammar = i % 4 == 0 ? schema : i % 4 == 1 ? words : inlay::Grammar();
    all.push_back({text(10 + 11 * std::size_t(i), i), sampler, {.tokens = 30, .top_logprobs = i % 5}, i % 3 == 0});
  }
  return all;
}

// In a batch of so many at once; 0: alone.
std::vector<Said> say(const inlay::Model& model, int at_once) {
  const auto asked = requests();
  std::vector<Said> said(asked.size());
  std::vector<inlay::Session> sessions;
  inlay::Batch batch(model, {.sessions_at_once = std::max(1, at_once)});
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const auto& ask = asked[i];
    auto& session = sessions.emplace_back(model.session({.speculate = false}));
    const auto sampler = ask.adjusts ? support::hashing(ask.sampler, said[i].logits) : ask.sampler;
    if (at_once > 0) {
      batch.submit(session, ask.prompt, sampler, ask.limits);
      continue;
    }
    auto reply = session.generate(ask.prompt, sampler, ask.limits);
    for (const auto& token : reply) support::add(said[i], token);
    said[i].finish = reply.finish();
  }
  for (const auto& event : batch) {
    CHECK(event.error.empty());
    support::add(said[event.id - 1], event);
  }
  return said;
}

TEST_CASE("requests with grammars and functions of the host say in a batch what they say alone") {
  const auto expected = say(support::load_nano({.threads = 1}), 0);
  CHECK(std::any_of(expected.begin(), expected.end(),
                    [](const Said& said) { return said.finish == inlay::Finish::constraint_done; }));
  for (const int threads : {1, 2, 5})
    for (const int at_once : {1, 5, 64}) CHECK(say(support::load_nano({.threads = threads}), at_once) == expected);
}

TEST_CASE("functions of the host are called by the thread that iterates") {
  const auto model = support::load_nano({.threads = 2});
  const auto here = std::this_thread::get_id();
  int calls = 0, texts = 0, elsewhere = 0;
  Sampler sampler{.seed = 1};
  sampler.adjust = [&](std::span<float>, std::span<const TokenId>) {
    ++calls;
    elsewhere += std::this_thread::get_id() != here;
  };
  inlay::Limits limits{.tokens = 5, .ignore_end = true};
  limits.guard.on_text = [&](std::string_view) {
    ++texts;
    elsewhere += std::this_thread::get_id() != here;
    return inlay::Verdict{};
  };
  std::vector<inlay::Session> sessions;
  inlay::Batch batch(model);
  for (TokenId i = 0; i < 6; ++i)
    batch.submit(sessions.emplace_back(model.session()), text(9, i), i % 2 ? Sampler::greedy() : sampler, limits);
  for (const auto& event : batch) CHECK(event.error.empty());
  CHECK(calls == 15);
  CHECK(texts > 15);
  CHECK(elsewhere == 0);
}

}  // namespace
