// How threads find their chunks. The only file that knows OpenMP.
#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "base/machine.hpp"

#ifdef INLAY_OPENMP
#include <omp.h>
#endif

namespace inlay::base {
namespace {

constexpr auto spin_time = std::chrono::microseconds(40);  // longer than most waits, shorter than a scheduler's slice

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// Waits until `value` is no longer `old`: awake for a moment, then asleep. Whoever changes such a value and then wakes
// others changes it in sequentially consistent order: waking looks for sleepers first (libstdc++ reads a counter), and
// that read must not come before the change, or one who falls asleep in between is not woken.
template <class Value>
Value await_change(const std::atomic<Value>& value, Value old) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + spin_time;
  do {
    for (int i = 0; i < 64; ++i) {
      if (const Value now = value.load(std::memory_order_acquire); now != old) return now;
      pause();
    }
  } while (std::chrono::steady_clock::now() < deadline);
  value.wait(old, std::memory_order_acquire);
  return value.load(std::memory_order_acquire);
}

// What is left of one worker's part of a phase: the phase in the upper half, the next chunk in the lower, so that a
// thread that was away too long cannot claim a chunk of another phase. Processors fetch lines of 64 bytes in pairs.
struct alignas(128) Part {
  std::atomic<std::uint64_t> next{0};
  std::atomic<std::int32_t> end{0};
};

constexpr std::uint64_t pack(int phase, int chunk) noexcept {
  return static_cast<std::uint64_t>(phase) << 32 | static_cast<std::uint32_t>(chunk);
}

}  // namespace

// The state of one run, shared by its workers.
class Team::Walk {
 public:
  Walk(Work& work, Part* parts, int size) noexcept : work_(work), parts_(parts), size_(size), phases_(work.phases()) {}

  bool start() noexcept { return open(0); }
  bool whole() const noexcept { return !stopped_; }
  int phases_done() const noexcept { return done_; }

  void work(int worker) noexcept {
    for (int phase = current_.load(std::memory_order_acquire); phase < phases_;) {
      const int done = take_chunks(phase, worker);
      const int chunks = work_.chunks(phase);
      if (done > 0 && finished_.fetch_add(done, std::memory_order_acq_rel) + done == chunks) {
        open(phase + 1);
        phase = current_.load(std::memory_order_relaxed);
      } else {
        phase = await_change(current_, phase);
      }
    }
  }

 private:
  // Hands out a phase; the one thread that finished the last chunk of the phase before calls this.
  bool open(int phase) noexcept {
    done_ = phase;
    if (phase < phases_ && !work_.enter(phase)) stopped_ = true;
    if (phase >= phases_ || stopped_) {
      publish(phases_);
      return false;
    }
    const std::int64_t chunks = work_.chunks(phase);
    finished_.store(0, std::memory_order_relaxed);
    for (int i = 0; i < size_; ++i) {
      // `next` first: whoever sees the new end cannot claim by the old next.
      parts_[i].next.store(pack(phase, static_cast<int>(chunks * i / size_)), std::memory_order_relaxed);
      parts_[i].end.store(static_cast<int>(chunks * (i + 1) / size_), std::memory_order_release);
    }
    publish(phase);
    return true;
  }

  void publish(int phase) noexcept {
    current_.store(phase);
    current_.notify_all();
  }

  // A chunk of this worker's part, or of another's; -1 when all are claimed.
  int claim(int phase, Part& part) noexcept {
    std::uint64_t next = part.next.load(std::memory_order_acquire);
    for (;;) {
      const int chunk = static_cast<int>(next & 0xFFFFFFFFu);
      if (static_cast<int>(next >> 32) != phase || chunk >= part.end.load(std::memory_order_acquire)) return -1;
      if (part.next.compare_exchange_weak(next, next + 1, std::memory_order_acq_rel)) return chunk;
    }
  }

  int take_chunks(int phase, int worker) noexcept {
    int done = 0;
    for (int i = 0; i < size_; ++i) {
      Part& part = parts_[(worker + i) % size_];
      for (int chunk; (chunk = claim(phase, part)) >= 0; ++done) work_.run({phase, chunk, worker, done == 0});
    }
    return done;
  }

  Work& work_;
  Part* parts_;
  const int size_, phases_;
  int done_ = 0;
  bool stopped_ = false;
  alignas(64) std::atomic<int> current_{0};
  alignas(64) std::atomic<int> finished_{0};
};

// Threads of our own: they sleep between regions, after a moment of watching for the next one. A region does not wait
// for a thread that has not arrived by its end.
class Team::Threads {
 public:
  Threads(int size, std::pmr::memory_resource* memory) : threads_(memory) {
    try {
      for (int i = 1; i < size; ++i) threads_.emplace_back([this, i] { live(i); });
    } catch (const std::system_error&) {  // no more are to be had: fewer do all the chunks
    } catch (...) {
      end();
      throw;
    }
  }
  ~Threads() { end(); }

  void run(Walk& walk) noexcept {
    walk_ = &walk;
    // Not set to 0: a thread that came too late for the region before may still have to leave.
    guests_.fetch_sub(closed, std::memory_order_acq_rel);
    region_.fetch_add(1);
    region_.notify_all();
    walk.work(0);
    int guests = guests_.fetch_add(closed, std::memory_order_acq_rel) + closed;
    while (guests != closed) guests = await_change(guests_, guests);
  }

 private:
  static constexpr int closed = 1 << 30;

  void end() noexcept {
    ending_ = true;
    region_.fetch_add(1);
    region_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  void live(int worker) noexcept {
    for (std::uint32_t seen = 0;;) {
      seen = await_change(region_, seen);
      if (ending_) return;
      if (guests_.fetch_add(1, std::memory_order_acq_rel) < closed) walk_->work(worker);
      guests_.fetch_sub(1);
      guests_.notify_all();
    }
  }

  std::pmr::vector<std::thread> threads_;
  Walk* walk_ = nullptr;
  std::atomic<bool> ending_{false};
  std::atomic<std::uint32_t> region_{0};
  std::atomic<int> guests_{closed};
};

struct Team::Parts {
  Parts(int size, std::pmr::memory_resource* memory) : of(std::size_t(size), memory) {}
  std::pmr::vector<Part> of;
};

Team::Team(int threads, HostThreads host, std::pmr::memory_resource* memory)
    : size_(threads > 0 ? threads : usable_cores()), host_(host) {
  size_ = std::min(size_, 1024);
  if (size_ == 1) return;
  parts_ = make<Parts>(memory, size_, memory);
#ifndef INLAY_OPENMP
  if (!host_.parallel) threads_ = make<Threads>(memory, size_, memory);
#endif
}

Team::~Team() = default;

bool Team::run(Work& work) noexcept {
  const int phases = work.phases();
  if (phases == 0) return true;
  ++regions_;
  if (size_ == 1) return run_alone(work, phases);
  Walk walk(work, parts_->of.data(), size_);
  if (walk.start()) open_region(walk);
  barriers_ += walk.phases_done();
  return walk.whole();
}

bool Team::run_alone(Work& work, int phases) noexcept {
  for (int phase = 0; phase < phases; ++phase, ++barriers_) {
    if (!work.enter(phase)) return false;
    const int chunks = work.chunks(phase);
    for (int chunk = 0; chunk < chunks; ++chunk) work.run({phase, chunk, 0, chunk == 0});
  }
  return true;
}

void Team::open_region(Walk& walk) noexcept {
  if (host_.parallel) {
    const auto body = [](void* context, int worker) { static_cast<Walk*>(context)->work(worker); };
    host_.parallel(host_.self, size_, body, &walk);
    return;
  }
#ifdef INLAY_OPENMP
#pragma omp parallel num_threads(size_)
  walk.work(omp_get_thread_num());
#else
  threads_->run(walk);
#endif
}

}  // namespace inlay::base
