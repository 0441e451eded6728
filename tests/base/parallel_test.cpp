// Every chunk runs exactly once, and only after the phases before it are over, however the threads come.
#include "base/parallel.hpp"

#include <atomic>
#include <thread>
#include <vector>

#include "base/machine.hpp"
#include "tests/support/catch.hpp"

// A limit on addresses starves a process of thread stacks; the sanitizers need addresses of their own.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#endif

namespace {

using inlay::base::HostThreads;
using inlay::base::Team;
using inlay::base::Turn;
using inlay::base::Work;

// Counts who ran what, and notices a chunk that ran before an earlier phase was over.
class Ledger final : public Work {
 public:
  explicit Ledger(std::vector<int> chunks, int stop_before = -1)
      : chunks_(std::move(chunks)), stop_before_(stop_before) {
    for (const int n : chunks_) runs_.emplace_back(n);
    left_ = std::vector<std::atomic<int>>(chunks_.size());
    for (std::size_t i = 0; i < chunks_.size(); ++i) left_[i] = chunks_[i];
  }

  int phases() const noexcept override { return static_cast<int>(chunks_.size()); }
  int chunks(int phase) const noexcept override { return chunks_[phase]; }
  bool enter(int phase) noexcept override { return phase != stop_before_; }
  void run(const Turn& turn) noexcept override {
    if (turn.phase > 0 && left_[turn.phase - 1] != 0) too_early = true;
    ++runs_[turn.phase][turn.chunk];
    if (turn.first) ++firsts;
    --left_[turn.phase];
  }

  // Each chunk of phases [0, n) ran once, of later ones never.
  bool ran_once_before(int n) const {
    for (int phase = 0; phase < phases(); ++phase) {
      for (const auto& runs : runs_[phase]) {
        if (runs != (phase < n ? 1 : 0)) return false;
      }
    }
    return true;
  }

  std::atomic<bool> too_early{false};
  std::atomic<int> firsts{0};

 private:
  std::vector<int> chunks_;
  int stop_before_;
  std::vector<std::vector<std::atomic<int>>> runs_;
  std::vector<std::atomic<int>> left_;
};

void run_serially(void*, int n, void (*body)(void*, int), void* context) {
  for (int i = 0; i < n; ++i) body(context, i);
}

void run_backwards(void*, int n, void (*body)(void*, int), void* context) {
  for (int i = n; i-- > 0;) body(context, i);
}

void run_side_by_side(void*, int n, void (*body)(void*, int), void* context) {
  std::vector<std::thread> threads;
  for (int i = 0; i < n; ++i) threads.emplace_back(body, context, i);
  for (auto& thread : threads) thread.join();
}

const std::vector<int> mixed = {1, 7, 2, 100, 3, 1, 1, 64, 5};

void check_whole_run(Team& team, int repetitions) {
  for (int i = 0; i < repetitions; ++i) {
    Ledger ledger(mixed);
    REQUIRE(team.run(ledger));
    REQUIRE(ledger.ran_once_before(ledger.phases()));
    REQUIRE_FALSE(ledger.too_early);
    REQUIRE(ledger.firsts >= ledger.phases());
  }
}

}  // namespace

TEST_CASE("every chunk runs once and in its phase, on one thread and on several") {
  for (const int threads : {1, 2, 3, 8}) {
    Team team(threads);
    REQUIRE(team.size() == threads);
    check_whole_run(team, 50);
    CHECK(team.regions() == 50);
    CHECK(team.barriers() == 50 * mixed.size());
  }
}

TEST_CASE("threads of the host may run one after another, in any order, or side by side") {
  for (const auto parallel : {run_serially, run_backwards, run_side_by_side}) {
    Team team(3, {nullptr, parallel});
    check_whole_run(team, 10);
    CHECK(team.regions() == 10);
  }
}

TEST_CASE("work that is refused entry to a phase ends before it") {
  for (const int threads : {1, 4}) {
    Team team(threads);
    for (int stop = 0; stop < static_cast<int>(mixed.size()); ++stop) {
      Ledger ledger(mixed, stop);
      CHECK_FALSE(team.run(ledger));
      CHECK(ledger.ran_once_before(stop));
    }
    check_whole_run(team, 3);
  }
}

TEST_CASE("a loop in parallel visits each index once, also an empty one") {
  Team team(4);
  std::vector<std::atomic<int>> visits(1000);
  team.each(1000, [&](int i) { ++visits[i]; });
  team.each(0, [&](int i) { ++visits[i]; });
  int wrong = 0;
  for (const auto& n : visits) wrong += n != 1;
  CHECK(wrong == 0);
}

TEST_CASE("a process has at least one core, and a team without a size takes what it may use") {
  CHECK(inlay::base::usable_cores() >= 1);
  CHECK(Team().size() == inlay::base::usable_cores());
}

#ifdef RLIMIT_AS
TEST_CASE("a team that gets fewer threads than it asks for does all its work with those") {
  const auto running = [] {
    const std::filesystem::directory_iterator tasks("/proc/self/task");
    return std::distance(begin(tasks), end(tasks));
  };
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_AS, &before) == 0);
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  constexpr rlim_t room = 4 << 20;  // less than the stack of one thread
  const rlimit tight{pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + room, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_AS, &tight) == 0);
  Team team(64);
  REQUIRE(setrlimit(RLIMIT_AS, &before) == 0);
  REQUIRE(running() < 64);
  check_whole_run(team, 20);
}
#endif
