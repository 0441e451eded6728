// Proves: a request of a batch gives what its session gives alone, token by token and logit by logit, whatever is
// beside it, and what goes wrong with one leaves the others alone.
#include <atomic>
#include <map>
#include <mutex>
#include <thread>

#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Batch;
using inlay::Finish;
using inlay::Sampler;
using inlay::TokenId;
using support::Ask;
using support::Said;

// Requests of every kind: long, short, greedy, drawn, held to a grammar, ended by a stop text.
std::vector<Ask> asks(const inlay::Model& model) {
  std::string story = "Once upon a time there was a small red house at the end of the lane.";
  for (int i = 0; i < 3; ++i) story += ' ' + story;
  const auto tokens = [&](std::string_view text) { return model.tokenize(text, {.specials = true}); };
  return {{tokens("The cat"), {.seed = 3}, {.tokens = 9}},
          {tokens(story), Sampler::greedy(), {.tokens = 12}},
          {tokens("Name a number:"), {.grammar = inlay::Grammar::regex("[0-9]{3,6}"), .seed = 1}, {.tokens = 20}},
          {tokens("Once upon a time"), {.repeat_penalty = 1.3f, .seed = 8}, {.tokens = 30, .stop = {".", "and"}}},
          {tokens("a"), {.temperature = 1.5f, .seed = 5}, {.tokens = 1}},
          {tokens(story + " It was"), {.top_k = 5, .seed = 9}, {.tokens = 5, .top_logprobs = 3}}};
}

std::vector<Said> alone(const inlay::Model& model, const std::vector<Ask>& asks) {
  std::vector<Said> all;
  for (const auto& ask : asks) all.push_back(support::say_alone(model, ask));
  return all;
}

// One thread suffices where threads are not what is tested.
inlay::Model load(inlay::LoadOptions options = {}) {
  options.threads = 1;
  return support::load_nano(options);
}

// Takes all pages that are free.
void fill(const inlay::Model& model, std::vector<inlay::Session>& sessions) {
  const std::vector<TokenId> page(32, 7);
  for (;;)
    for (auto& session = sessions.emplace_back(model.session()); session.room() >= page.size();) session.evaluate(page);
}

}  // namespace

TEST_CASE("a request says in a batch what it says alone, to the bit, in any pieces and at any number of threads") {
  const auto model = load();
  const auto all = asks(model);
  const auto expected = alone(model, all);
  for (const auto& [tokens, sessions] : {std::pair(1, 2), {7, 64}, {33, 1}, {33, 3}, {512, 64}}) {
    INFO(tokens << " tokens a step, " << sessions << " sessions at once");
    CHECK(support::say_together(model, all, {.tokens_per_step = tokens, .sessions_at_once = sessions}) == expected);
  }
  CHECK(support::say_together(model, all, {.steps_of_delay = 0}) == expected);
  for (const int threads : {2, 3})
    CHECK(support::say_together(support::load_nano({.threads = threads, .page = 5}), all, {.tokens_per_step = 20}) ==
          expected);
}

TEST_CASE("where memory runs out, the least urgent fall back to their tokens and go on as if nothing had been") {
  const auto whole = load();
  const auto model = load({.cache_bytes = inlay::Model::plan(support::nano()).page * 30});
  const auto ask_of = [](Batch::Id i) {
    return Ask{std::vector<TokenId>(40, 100 + TokenId(i)), Sampler::greedy(), {.tokens = 60, .ignore_end = true}};
  };
  const bool ahead = GENERATE(false, true);
  CAPTURE(ahead);
  Batch batch(model, {.tokens_per_step = 16, .steps_of_delay = 0});  // all hold pages soon, whatever the time
  support::inside(batch).go_ahead(ahead);
  std::map<Batch::Id, inlay::Session> sessions;
  for (Batch::Id i = 1; i <= 4; ++i) {
    auto& session = sessions.emplace(i, model.session()).first->second;
    REQUIRE(batch.submit(session, ask_of(i).prompt, ask_of(i).sampler, ask_of(i).limits) == i);
  }
  // Sessions beside the batch take what the requests were promised, so that some must give their pages back.
  std::vector<inlay::Session> beside;
  std::map<Batch::Id, Said> said;
  int events = 0;
  for (const auto& event : batch) {
    INFO(event.error);
    REQUIRE(event.error.empty());
    support::add(said[event.id], event);
    if (++events == 20) CHECK_THROWS_AS(fill(model, beside), inlay::Error);
    if (event.finish != Finish::running) sessions.erase(event.id);
  }
  for (Batch::Id i = 1; i <= 4; ++i) CHECK(said[i].tokens == support::say_alone(whole, ask_of(i)).tokens);
}

TEST_CASE("a higher priority takes the place of a lower one, which then goes on") {
  const auto model = load();
  const Ask patient{
      model.tokenize("Once upon a time", {.specials = true}), {.seed = 4}, {.tokens = 20, .ignore_end = true}};
  const Ask urgent{model.tokenize("Stop! The", {.specials = true}), {.seed = 5}, {.tokens = 6, .ignore_end = true}};
  Batch batch(model, {.sessions_at_once = 1});
  auto first = model.session(), second = model.session();
  const auto low = batch.submit(first, patient.prompt, patient.sampler, patient.limits);
  Batch::Id high = 0;
  std::vector<Batch::Id> order;
  std::map<Batch::Id, Said> said;
  for (const auto& event : batch) {
    order.push_back(event.id);
    support::add(said[event.id], event);
    if (order.size() == 5) high = batch.submit(second, urgent.prompt, urgent.sampler, urgent.limits, {.priority = 1});
  }
  std::vector<Batch::Id> expected(5, low);
  expected.insert(expected.end(), 6, high), expected.insert(expected.end(), 15, low);
  CHECK(order == expected);
  CHECK(said[low].tokens == support::say_alone(model, patient).tokens);
  CHECK(said[high].tokens == support::say_alone(model, urgent).tokens);
}

TEST_CASE("sessions with a past, and forks of one, continue in a batch as they would alone") {
  const auto model = load();
  auto past = model.session();
  (void)past.generate("There was a brave", {.seed = 2}, {.tokens = 7}).text();
  std::vector<inlay::Session> branches;
  std::vector<std::vector<TokenId>> expected, made(4);
  const inlay::Limits limits{.tokens = 10, .ignore_end = true};
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    auto serial = past.fork();
    auto reply = serial.generate(seed % 2 ? " and" : "", {.seed = seed}, limits);
    expected.emplace_back();
    for (const auto& token : reply) expected.back().push_back(token.id);
    branches.push_back(past.fork());
  }
  Batch batch(model);
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    CHECK(batch.submit(branches[seed], seed % 2 ? " and" : "", {.seed = seed}, limits) == seed + 1);
  for (const auto& event : batch) made[event.id - 1].push_back(event.token.id);
  CHECK(made == expected);
  const auto end = branches[0].tokens();
  CHECK(std::equal(made[0].begin(), made[0].end(), end.end() - std::ptrdiff_t(made[0].size())));
}

TEST_CASE("cancel, deadline and the end of the batch leave sessions where they were") {
  const auto model = load();
  auto unread = model.session(), read = model.session(), late = model.session(), stopped = model.session();
  (void)unread.generate("Hello", Sampler::greedy(), {.tokens = 3}).text();
  const auto before = unread.tokens().size();
  const inlay::Limits endless{.tokens = 50, .ignore_end = true};
  std::stop_source stop;
  {
    Batch batch(model, {.tokens_per_step = 2});
    const auto a = batch.submit(read, "One", Sampler::greedy(), endless);
    const auto b = batch.submit(unread, "A long prompt that is not read in one step", Sampler::greedy(), endless);
    const auto c = batch.submit(late, "Two", Sampler::greedy(), {.deadline = std::chrono::milliseconds(1)});
    const auto d = batch.submit(stopped, "Three", Sampler::greedy(), {.cancel = stop.get_token()});
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    batch.cancel(b), batch.cancel(77), stop.request_stop();
    std::map<Batch::Id, Finish> ends;
    int seen = 0;
    for (const auto& event : batch) {
      if (event.finish != Finish::running) {
        ends[event.id] = event.finish;
        CHECK(event.token.id == -1);
      }
      if (event.id == a && ++seen == 4) break;
    }
    CHECK(ends == std::map<Batch::Id, Finish>{{b, Finish::cancelled}, {c, Finish::deadline}, {d, Finish::cancelled}});
    CHECK(unread.tokens().size() == before);
    CHECK(late.tokens().empty());
    CHECK(batch.submit(unread, std::string(900, 'x'), Sampler::greedy(), endless) > d);
  }
  CHECK(unread.tokens().size() == before);
  CHECK(read.tokens().size() == model.tokenize("One", {.specials = true}).size() + 4);
  CHECK_FALSE(unread.generate(" and", Sampler::greedy(), {.tokens = 4}).text().empty());
}

TEST_CASE("what goes wrong with one request is told, and the others go on") {
  const auto model = load();
  auto good = model.session(), bad = model.session(), taken = model.session(), none = model.session();
  Batch batch(model);
  const auto a = batch.submit(good, "Once upon a time", {.seed = 1}, {.tokens = 12, .ignore_end = true});
  const auto b =
      batch.submit(bad, "Once upon", {.adjust = [](auto&&, auto&&) { throw std::runtime_error("no luck"); }});
  const auto c = batch.submit(taken, "Twice", {}, {.tokens = 40, .ignore_end = true});
  const auto d = batch.submit(none, "Nothing", {}, {.tokens = 0});
  CHECK_THROWS_AS(batch.submit(good, "again"), inlay::Error);
  CHECK_THROWS_AS(batch.submit(bad, std::vector<TokenId>{1 << 20}), inlay::Error);
  auto empty = model.session();
  CHECK_THROWS_AS(batch.submit(empty, std::vector<TokenId>{}), inlay::Error);
  CHECK_THROWS_AS(batch.submit(empty, std::string(100'000, 'y')), inlay::Error);
  CHECK(empty.tokens().empty());
  auto other = load().session();
  CHECK_THROWS_AS(batch.submit(other, "of another model"), inlay::Error);
  CHECK_THROWS_AS(Batch(model, {.tokens_per_step = 0}), inlay::Error);
  std::map<Batch::Id, std::pair<Finish, std::string>> ends;
  std::map<Batch::Id, int> tokens;
  for (const auto& event : batch) {
    tokens[event.id] += event.token.id >= 0;
    if (event.finish != Finish::running) ends[event.id] = {event.finish, event.error};
    if (tokens[a] == 5 && taken.tokens().size() > 3) taken.rewind(2);  // asked for something else
  }
  CHECK(tokens[a] == 12);
  CHECK(ends[a] == std::pair(Finish::token_limit, std::string()));
  CHECK(ends[b] == std::pair(Finish::cancelled, std::string("no luck")));
  CHECK(ends[c] == std::pair(Finish::cancelled, std::string()));
  CHECK(taken.tokens().size() == 2);
  CHECK(ends[d] == std::pair(Finish::token_limit, std::string()));
  CHECK(tokens[d] == 0);
  batch.close();
  CHECK_THROWS_AS(batch.submit(empty, "late"), inlay::Error);
}

TEST_CASE("several threads submit and cancel while one runs the loop: every text is that of a serial run") {
  const auto model = load();
  constexpr int threads = 4, requests = 6;
  const auto ask_of = [&](int thread, int i) {
    const auto number = std::uint64_t(thread * requests + i);
    return Ask{model.tokenize("Story " + std::to_string(number), {.specials = true}),
               {.seed = number},
               {.tokens = 4 + int(number % 9), .ignore_end = true}};
  };
  const bool ahead = GENERATE(false, true);
  CAPTURE(ahead);
  Batch batch(model, {.tokens_per_step = 24, .sessions_at_once = 5, .keep_open = true});
  support::inside(batch).go_ahead(ahead);
  std::mutex mutex;
  std::map<Batch::Id, std::pair<int, int>> names;
  std::vector<inlay::Session> sessions;
  sessions.reserve(threads * requests * 2);
  std::vector<std::jthread> team;
  std::atomic<int> busy{threads};
  for (int thread = 0; thread < threads; ++thread)
    team.emplace_back([&, thread] {
      for (int i = 0; i < requests; ++i) {
        const auto ask = ask_of(thread, i);
        std::unique_lock guard(mutex);
        auto &session = sessions.emplace_back(model.session()), &doomed = sessions.emplace_back(model.session());
        names[batch.submit(session, ask.prompt, ask.sampler, ask.limits, {.priority = i % 2})] = {thread, i};
        guard.unlock();
        const auto id = batch.submit(doomed, "never mind", {}, {.tokens = 100});
        std::this_thread::yield();
        batch.cancel(id);
      }
      if (--busy == 0) batch.close();
    });
  std::map<Batch::Id, Said> said;
  for (const auto& event : batch) support::add(said[event.id], event);
  CHECK(said.size() == threads * requests * 2);
  for (const auto& [id, name] : names) {
    const auto serial = support::say_alone(model, ask_of(name.first, name.second));
    CHECK(said[id].tokens == serial.tokens);
    CHECK(said[id].text == serial.text);
  }
}
