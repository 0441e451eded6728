// Proves: the scheduler keeps its budgets, starves nobody, admits only what fits, and preempts the least urgent.
#include "runtime/scheduler.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "tests/support/catch.hpp"

namespace {

using namespace inlay::runtime;

const std::vector<TokenId>& numbers() {
  static const auto all = [] {
    std::vector<TokenId> tokens(5000);
    std::iota(tokens.begin(), tokens.end(), 0);
    return tokens;
  }();
  return all;
}

// Tokens that share nothing with those of another `id`.
std::span<const TokenId> text(std::uint64_t id, std::size_t n) { return std::span(numbers()).subspan(id, n); }

Request waiting(std::uint64_t id, std::size_t tokens, int priority = 0) {
  return {.id = id, .priority = priority, .tokens = text(id, tokens), .most = tokens + 32};
}
Request running(std::uint64_t id, std::size_t tokens, std::size_t cached, int priority = 0) {
  auto request = waiting(id, tokens, priority);
  request.cached = cached, request.running = true, request.pages = request.releasable = (cached + 31) / 32;
  return request;
}

std::map<std::uint64_t, int> parts_of(const Schedule& schedule) {
  std::map<std::uint64_t, int> parts;
  for (const auto& part : schedule.parts) parts[part.id] += part.tokens;
  return parts;
}

using Ids = std::pmr::vector<std::uint64_t>;
using Parts = std::map<std::uint64_t, int>;

}  // namespace

TEST_CASE("those that write come first, and prompts share what is left of the budget") {
  const Request requests[] = {running(1, 900, 100), running(2, 50, 49), running(3, 70, 69), running(4, 30, 10)};
  const auto all = schedule(requests, {.tokens_per_step = 100}, {});
  CHECK(parts_of(all) == Parts{{2, 1}, {3, 1}, {4, 20}, {1, 78}});
  CHECK(all.parts[0].tokens == 1);
  CHECK(all.parts[1].tokens == 1);
  CHECK(parts_of(schedule(requests, {.tokens_per_step = 100}, {.prompt_tokens = 30})) ==
        Parts{{2, 1}, {3, 1}, {4, 20}, {1, 10}});
  CHECK(parts_of(schedule(requests, {.tokens_per_step = 100}, {.prompt_tokens = 0})) == Parts{{2, 1}, {3, 1}});
  CHECK(parts_of(schedule(requests, {.tokens_per_step = 1}, {})).size() == 1);
}

TEST_CASE("nobody writes, so prompts have the whole step: short ones are fused") {
  const Request requests[] = {waiting(1, 400), waiting(2, 20), waiting(3, 30), waiting(4, 40)};
  const auto chosen = schedule(requests, {.tokens_per_step = 128}, {.prompt_tokens = 0});
  CHECK(chosen.admitted == Ids{1, 2, 3, 4});
  CHECK(parts_of(chosen) == Parts{{2, 20}, {3, 30}, {4, 40}, {1, 38}});
}

TEST_CASE("the longest prefix that is read already is admitted first, then the oldest") {
  Request requests[] = {waiting(1, 100), waiting(2, 100), waiting(3, 100), waiting(4, 100, 1)};
  requests[2].cached = 64;
  CHECK(schedule(requests, {.sessions_at_once = 3}, {}).admitted == Ids{4, 3, 1});
}

TEST_CASE("a request waits for another that reads the same beginning, but for no less than a page") {
  std::vector<Request> requests = {running(1, 1000, 100), waiting(2, 1000), waiting(3, 1000)};
  requests[1].tokens = text(1, 600);
  requests[2].tokens = text(3, 600);
  CHECK(schedule(requests, {}, {}).admitted == Ids{2, 3});  // they share nothing
  for (auto& request : requests) request.salt = "";
  CHECK(schedule(requests, {}, {}).admitted == Ids{3});
  requests[1].salt = "of another tenant";
  CHECK(schedule(requests, {}, {}).admitted == Ids{2, 3});
  requests[1].salt = "", requests[1].priority = 1;  // more urgent than who reads for it
  CHECK(schedule(requests, {}, {}).admitted == Ids{2, 3});
  requests[1].priority = 0, requests[0].cached = 600;  // read now, whatever of it the cache kept
  CHECK(schedule(requests, {}, {}).admitted == Ids{2, 3});
  requests = {waiting(1, 1000), waiting(2, 31), waiting(3, 33)};
  requests[1].tokens = text(1, 31), requests[2].tokens = text(1, 34);
  for (auto& request : requests) request.salt = "";
  CHECK(schedule(requests, {}, {}).admitted == Ids{1, 2});
}

TEST_CASE("where states are kept, a prompt stops where others go on from it, and at its last whole page") {
  std::vector<Request> requests = {running(1, 300, 40), waiting(2, 300), waiting(3, 300)};
  requests[1].tokens = text(1, 200), requests[2].tokens = text(1, 150);
  for (auto& request : requests) request.salt = "";
  const auto read = [&] { return parts_of(schedule(requests, {.keeps_states = true}, {})); };
  CHECK(read() == Parts{{1, 128 - 40}});
  requests[2].priority = 1;  // does not wait for it
  CHECK(read() == Parts{{1, 192 - 40}, {3, 128}});
  requests.resize(1);
  CHECK(read() == Parts{{1, 288 - 40}});
  CHECK(parts_of(schedule(requests, {}, {})) == Parts{{1, 260}});
  requests[0].cached = 288;
  CHECK(read() == Parts{{1, 12}});
}

TEST_CASE("a tenant has no more sessions at once than its quota") {
  std::vector<Request> requests;
  for (std::uint64_t id = 1; id <= 6; ++id) requests.push_back(waiting(id, 10)), requests.back().tenant = id <= 4;
  CHECK(schedule(requests, {.sessions_per_tenant = 2}, {}).admitted == Ids{1, 2, 5, 6});
  requests[0].running = requests[1].running = true;
  CHECK(schedule(requests, {.sessions_per_tenant = 2}, {}).admitted == Ids{5, 6});
}

TEST_CASE("only what can grow to its end beside the others is admitted") {
  // Each can come to 96 tokens, three pages.
  const Request requests[] = {waiting(1, 64), waiting(2, 64), waiting(3, 64)};
  CHECK(schedule(requests, {}, {.pages = 6}).admitted == Ids{1, 2});
  CHECK(schedule(requests, {}, {.pages = 5}).admitted == Ids{1});
  CHECK(schedule(requests, {}, {.pages = 1}).admitted == Ids{1});  // alone it may try
  CHECK(schedule(requests, {}, {.slots = 2}).admitted == Ids{1, 2});
  const Request beside[] = {running(1, 64, 63), waiting(2, 64)};  // the first holds two pages and will want a third
  CHECK(schedule(beside, {}, {.pages = 3}).admitted.empty());
  CHECK(schedule(beside, {}, {.pages = 4}).admitted == Ids{2});
}

TEST_CASE("a source needs pages of its own") {
  auto request = waiting(1, 1);
  request.most = 32, request.source = 65;  // a page, and three
  const Request requests[] = {running(9, 31, 30), request};
  const auto growth = std::size_t(1);  // of the one that runs: to 63 tokens
  CHECK(schedule(requests, {}, {.pages = 4 + growth}).admitted == Ids{1});
  CHECK(schedule(requests, {}, {.pages = 3 + growth}).admitted.empty());
}

TEST_CASE("smaller ones overtake one that does not fit, but not those that come much later") {
  std::vector<Request> requests = {running(1, 64, 63), waiting(2, 2000), waiting(3, 32)};
  CHECK(schedule(requests, {}, {.pages = 4}).admitted == Ids{3});
  requests[2].arrival = patience;
  CHECK(schedule(requests, {}, {.pages = 4}).admitted.empty());
  CHECK(schedule(requests, {}, {.pages = 4}).preempted.empty());  // waiting long is no reason to preempt
}

TEST_CASE("a higher priority makes room: the least urgent fall back first, and no more than needed") {
  const Request requests[] = {running(1, 64, 63, 1), running(2, 64, 63), running(3, 64, 63), waiting(4, 64, 2)};
  const auto places = schedule(requests, {.sessions_at_once = 3}, {});
  CHECK(places.preempted == Ids{3});
  CHECK(places.admitted == Ids{4});
  CHECK(parts_of(places) == Parts{{1, 1}, {2, 1}, {4, 64}});
  const auto memory = schedule(requests, {}, {.pages = 3});  // two are promised, three wanted: one gives back two
  CHECK(memory.preempted == Ids{3});
  CHECK(schedule(requests, {}, {.pages = 6}).preempted.empty());
  std::vector<Request> shared(std::begin(requests), std::end(requests));
  for (auto& request : shared) request.releasable = 1;  // others hold the other one, too
  CHECK(schedule(shared, {}, {.pages = 3}).preempted == Ids{3, 2});
  const Request equal[] = {running(1, 64, 63), waiting(2, 64)};
  CHECK(schedule(equal, {.sessions_at_once = 1}, {}).preempted.empty());
  CHECK(least_urgent(requests) == 3);
  CHECK_FALSE(least_urgent(std::span(equal)).has_value());
}

TEST_CASE("nobody starves, whatever arrives") {
  // One urgent short request arrives in every step; the long one of low priority and the large one still end.
  struct Job {
    Request request;
    std::size_t tokens, cached = 0, writes = 4;
  };
  std::mt19937 random(7);
  std::vector<Job> jobs;
  std::uint64_t last = 0;
  std::size_t step = 0;
  const auto submit = [&](std::size_t tokens, int priority) {
    ++last;
    jobs.push_back({waiting(last, tokens, priority), tokens});
    jobs.back().request.arrival = step;
  };
  submit(900, -3), submit(600, 0);
  const ScheduleRules rules{.tokens_per_step = 24, .sessions_at_once = 4};
  for (; step < 5000 && (jobs[0].writes > 0 || jobs[1].writes > 0); ++step) {
    submit(8 + random() % 32, int(random() % 2));
    std::vector<Request> requests;
    std::size_t held = 0;
    for (auto& job : jobs) {
      if (job.writes == 0) continue;
      job.request.tokens = std::span(numbers()).first(job.tokens);
      job.request.cached = job.cached, job.request.most = job.tokens + 4;
      job.request.pages = job.request.releasable = (job.cached + 31) / 32;
      held += job.request.pages;
      requests.push_back(job.request);
    }
    const auto chosen = schedule(requests, rules, {.pages = 40 - held, .prompt_tokens = 12});
    for (const auto id : chosen.preempted) jobs[id - 1].request.running = false, jobs[id - 1].cached = 0;
    for (const auto id : chosen.admitted) jobs[id - 1].request.running = true;
    std::size_t read = 0;
    for (const auto& [id, tokens] : chosen.parts) {
      auto& job = jobs[id - 1];
      REQUIRE(job.request.running);
      REQUIRE((tokens > 0 && job.cached + std::size_t(tokens) <= job.tokens));
      read += std::size_t(tokens), job.cached += std::size_t(tokens);
      if (job.cached == job.tokens) --job.writes, ++job.tokens;
      if (job.writes == 0) job.cached = 0, job.request.running = false;
    }
    REQUIRE((read > 0 && read <= rules.tokens_per_step));
  }
  CHECK(step < 2500);
}
