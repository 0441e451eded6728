// Proves: a step that is begun while the tokens of the last one are described and shown changes nothing that is said,
// whatever the host does meanwhile.
#include <map>

#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Batch;
using inlay::Finish;
using inlay::Sampler;
using inlay::TokenId;
using support::Said;
using support::text;

struct Request {
  std::vector<TokenId> prompt;
  Sampler sampler;
  inlay::Limits limits;
};

// Of every kind: with grammars, stop texts, guards, functions of the host, log-probabilities, and ends of every kind.
std::vector<Request> requests() {
  const auto words = inlay::Grammar::regex("(red|green|blue)( (red|green|blue)){1,5}");
  std::vector<Request> all;
  for (TokenId i = 0; i < 12; ++i) {
    Sampler sampler = i % 5 == 4 ? Sampler::greedy() : Sampler{.seed = std::uint64_t(i)};
    if (i % 4 == 0) sampler.grammar = words;
    inlay::Limits limits{.tokens = 20 + 3 * int(i), .top_logprobs = i % 3};
    if (i % 4 == 1) limits.stop = {"the", "a"};
    if (i == 7)
      limits.guard.on_text = [](std::string_view seen) {
        return seen.find('e') == seen.npos ? inlay::Verdict::allow : inlay::Verdict::redact;
      };
    limits.ignore_end = i % 2 == 0;
    all.push_back({text(10 + 11 * std::size_t(i), i), sampler, limits});
  }
  return all;
}

struct Result {
  std::vector<Said> said;
  std::vector<std::vector<std::byte>> saved;
  std::vector<Batch::Id> order;
  int ahead = 0;  // events that were shown while a step ran
};

Result say(const inlay::Model& model, const Batch::Options& options, bool ahead) {
  const auto asked = requests();
  Result result{.said = std::vector<Said>(asked.size())};
  std::vector<inlay::Session> sessions;
  Batch batch(model, options);
  support::inside(batch).go_ahead(ahead);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    auto& session = sessions.emplace_back(model.session({.speculate = false}));
    const auto sampler = i % 3 == 0 ? support::hashing(asked[i].sampler, result.said[i].logits) : asked[i].sampler;
    batch.submit(session, asked[i].prompt, sampler, asked[i].limits);
  }
  for (const auto& event : batch) {
    CHECK(event.error.empty());
    support::add(result.said[event.id - 1], event);
    result.order.push_back(event.id);
    result.ahead += support::inside(sessions[event.id - 1]).beside != nullptr;
  }
  for (const auto& session : sessions) result.saved.push_back(session.save());
  return result;
}

TEST_CASE("what is told while the next step runs is what is told between steps, in the same order") {
  for (const int threads : {1, 2}) {
    const auto model = support::load_nano({.threads = threads, .page = 5, .reuse_prefixes = false});
    for (const Batch::Options& options : {Batch::Options{.steps_of_delay = 0},
                                          {.tokens_per_step = 40, .sessions_at_once = 5, .steps_of_delay = 0},
                                          {.sessions_at_once = 1, .steps_of_delay = 0}}) {
      const auto plain = say(model, options, false), ahead = say(model, options, true);
      CHECK(plain.ahead == 0);
      CHECK((ahead.ahead > 50) == (options.sessions_at_once > 1));
      CHECK(ahead.said == plain.said);
      CHECK(ahead.order == plain.order);
      CHECK(ahead.saved == plain.saved);
    }
  }
}

TEST_CASE("sessions that a step reads may be used while it runs, and the others go on") {
  const auto model = support::load_nano({.threads = 1, .page = 5});
  const inlay::Limits limits{.tokens = 40, .ignore_end = true};
  std::vector<std::vector<TokenId>> alone;
  for (TokenId i = 0; i < 6; ++i)
    alone.push_back(support::say_alone(model, {text(20, i), {.seed = std::uint64_t(i)}, limits}).tokens);
  std::vector<inlay::Session> sessions, copies;
  std::map<Batch::Id, std::vector<TokenId>> made;
  std::map<Batch::Id, Finish> ends;
  int beside = 0;
  {
    Batch batch(model);
    support::inside(batch).go_ahead(true);
    for (TokenId i = 0; i < 6; ++i)
      batch.submit(sessions.emplace_back(model.session()), text(20, i), {.seed = std::uint64_t(i)}, limits);
    for (const auto& event : batch) {
      if (event.token.id >= 0) made[event.id].push_back(event.token.id);
      if (event.finish != Finish::running) ends[event.id] = event.finish;
      const auto written = event.stats.generated_tokens;
      if (written == 30) break;  // and the batch ends while a step runs
      if (written != 12 || event.finish != Finish::running) continue;
      auto& session = sessions[event.id - 1];
      beside += support::inside(session).beside != nullptr;
      if (event.id == 1) copies.push_back(session.fork());
      if (event.id == 2) copies.push_back(model.restore(session.save()));
      if (event.id == 3) session.rewind(25);
      if (event.id == 4) batch.cancel(event.id);
      if (event.id == 5) (void)session.evaluate(text(3, 9));
    }
  }
  CHECK(beside == 6);
  CHECK(ends == std::map<Batch::Id, Finish>{{3, Finish::cancelled}, {4, Finish::cancelled}, {5, Finish::cancelled}});
  for (const Batch::Id id : {1, 2, 3, 4, 5, 6}) {
    INFO(id);
    const auto& whole = alone[id - 1];
    const auto& part = made[id];
    CHECK(part == std::vector<TokenId>(whole.begin(), whole.begin() + std::ptrdiff_t(part.size())));
    CHECK(part.size() == (id >= 3 && id <= 5 ? 12u : id == 1 ? 30u : 29u));
  }
  CHECK(sessions[2].tokens().size() == 25);
  CHECK(sessions[3].tokens().size() == 32);
  CHECK(sessions[4].tokens().size() == 35);
  // Copies, and a session whose batch has ended, go on from where they were.
  copies.push_back(std::move(sessions[5]));
  for (auto& copy : copies) {
    const std::vector<TokenId> past(copy.tokens().begin(), copy.tokens().end());
    auto fresh = model.session();
    CHECK(copy.evaluate(text(4, 3)) == [&] {
      fresh.evaluate(past);
      return fresh.evaluate(text(4, 3));
    }());
  }
}

}  // namespace
