// Proves: threads that submit, cancel, generate, fork, save and restore at random, all at once and short of memory, get
// what they would get alone.
#include <atomic>
#include <deque>
#include <filesystem>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Batch;
using inlay::Sampler;
using inlay::TokenId;
using support::Ask;
using Tokens = std::vector<TokenId>;

constexpr int threads = 8, operations = 20;

const inlay::Limits few{.tokens = 5, .ignore_end = true};
const Tokens more = {350, 351, 352};

Tokens written(inlay::Session& session, const Ask& ask) {
  Tokens tokens;
  auto reply = session.generate(ask.prompt, ask.sampler, ask.limits);
  for (const auto& token : reply) tokens.push_back(token.id);
  return tokens;
}

// Several begin alike.
std::vector<Ask> asks() {
  std::vector<Ask> asks;
  for (TokenId i = 0; i < 10; ++i) {
    Tokens prompt(std::size_t(12 + 9 * (i % 3)), 400 + i % 3);
    for (TokenId j = 0; j < 5; ++j) prompt.push_back(500 + i * j);
    asks.push_back({prompt, {.seed = std::uint64_t(i)}, {.tokens = 4 + i % 5, .ignore_end = true}});
  }
  return asks;
}

struct Expected {
  Tokens first, second;  // of an ask, and of `more` after it
};

std::vector<Expected> alone(const inlay::Model& model) {
  std::vector<Expected> all;
  for (const auto& ask : asks()) {
    auto session = model.session();
    auto first = written(session, ask);
    all.push_back({std::move(first), written(session, {more, Sampler::greedy(), few})});
  }
  return all;
}

bool begins(const Tokens& part, const Tokens& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

// What all threads work on. Catch counts on one thread only, so mistakes are counted here.
struct Work {
  explicit Work(const inlay::Model& model, std::vector<Expected> expected)
      : model(model), expected(std::move(expected)), batch(model, {.tokens_per_step = 40, .keep_open = true}) {
    support::inside(batch).go_ahead(true);
  }

  const inlay::Model& model;
  const std::vector<Ask> list = asks();
  const std::vector<Expected> expected;
  Batch batch;
  std::mutex mutex;  // of the two below
  std::map<Batch::Id, std::size_t> submitted;
  std::map<Batch::Id, bool> cancelled;
  std::atomic<int> wrong{0}, done{0}, busy{threads};
};

class Worker {
 public:
  Worker(Work& work, unsigned seed) : work_(work), random_(seed) {}

  void run() {
    for (int i = 0; i < operations; ++i) {
      try {
        step();
        ++work_.done;
      } catch (const std::exception&) {
        ++work_.wrong;
      }
    }
    if (--work_.busy == 0) work_.batch.close();
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  void expect(bool right) { work_.wrong += !right; }

  void step() {
    const auto choice = below(10), ask = below(work_.list.size());
    if (choice < 3)
      submit(ask, false);
    else if (choice < 5)
      submit(ask, true);
    else if (choice < 7)
      generate(ask);
    else if (choice == 7)
      stop_early(ask);
    else if (choice == 8)
      restore(ask);
    else
      work_.model.trim();
  }

  void submit(std::size_t ask, bool cancel) {
    auto& session = sessions_.emplace_back(work_.model.session());
    const auto& [prompt, sampler, limits] = work_.list[ask];
    Batch::Id id;
    {
      std::lock_guard guard(work_.mutex);
      id = work_.batch.submit(session, prompt, sampler, limits, {.priority = int(below(3))});
      work_.submitted[id] = ask, work_.cancelled[id] = cancel;
    }
    if (below(2)) std::this_thread::yield();
    if (cancel) work_.batch.cancel(id);
  }

  void generate(std::size_t ask) {
    auto session = work_.model.session();
    expect(written(session, work_.list[ask]) == work_.expected[ask].first);
    auto branch = session.fork();
    expect(written(branch, {more, Sampler::greedy(), few}) == work_.expected[ask].second);
    expect(written(session, {more, Sampler::greedy(), few}) == work_.expected[ask].second);
    idle_.push_back(std::move(branch));
    if (idle_.size() > 3) idle_.pop_front();
  }

  void stop_early(std::size_t ask) {
    auto session = work_.model.session();
    std::stop_source stop;
    auto [prompt, sampler, limits] = work_.list[ask];
    limits.cancel = stop.get_token();
    auto reply = session.generate(prompt, sampler, limits);
    Tokens tokens;
    for (const auto& token : reply) {
      tokens.push_back(token.id);
      if (below(3) == 0) stop.request_stop();
    }
    expect(begins(tokens, work_.expected[ask].first));
    session.rewind(0);
    expect(written(session, work_.list[ask]) == work_.expected[ask].first);
  }

  void restore(std::size_t ask) {
    auto session = work_.model.session();
    expect(written(session, work_.list[ask]) == work_.expected[ask].first);
    auto restored = work_.model.restore(session.save());
    expect(written(restored, {more, Sampler::greedy(), few}) == work_.expected[ask].second);
  }

  Work& work_;
  std::mt19937 random_;
  std::deque<inlay::Session> sessions_, idle_;  // of the batch; and those that only wait
};

void soak(const inlay::Model& model, const std::vector<Expected>& expected, unsigned seed) {
  Work work(model, expected);
  std::deque<Worker> workers;
  std::map<Batch::Id, Tokens> made;
  {
    std::vector<std::jthread> team;
    for (unsigned i = 0; i < threads; ++i) {
      auto& worker = workers.emplace_back(work, seed * threads + i);
      team.emplace_back([&worker] { worker.run(); });
    }
    for (const auto& event : work.batch) {
      if (!event.error.empty()) ++work.wrong;
      auto& tokens = made[event.id];
      if (event.token.id >= 0) tokens.push_back(event.token.id);
    }
  }
  CHECK(work.wrong == 0);
  CHECK(work.done == threads * operations);
  CHECK(made.size() == work.submitted.size());
  for (const auto& [id, ask] : work.submitted) {
    const auto& whole = expected[ask].first;
    CHECK((work.cancelled[id] ? begins(made[id], whole) : made[id] == whole));
  }
}

TEST_CASE("eight threads at once get what they would get alone") {
  const auto expected = alone(support::load_nano({.threads = 1, .reuse_prefixes = false}));
  const auto page = std::size_t(inlay::Model::plan(support::nano(), {.page = 8}).page);
  soak(support::load_nano({.threads = 2, .page = 8}), expected, 1);
  // Little memory: requests fall back to their tokens, known beginnings are forgotten, idle sessions go to a file.
  soak(support::load_nano({.threads = 2,
                           .cache_bytes = 48 * page,
                           .disk_bytes = 2000 * page,
                           .disk_folder = std::filesystem::temp_directory_path().string(),
                           .page = 8}),
       expected, 2);
}

}  // namespace
