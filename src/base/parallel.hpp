// A team of threads that works through phases together: every chunk of a phase is done before the next phase begins.
#pragma once

#include <cstdint>
#include <memory_resource>

#include "base/memory.hpp"

namespace inlay::base {

// One chunk of a phase in the hands of one worker.
struct Turn {
  int phase, chunk, worker;
  bool first;  // this worker's first chunk of this phase
};

// What a team works through. Phases and chunks are fixed while it runs.
class Work {
 public:
  virtual ~Work() = default;
  virtual int phases() const noexcept = 0;
  virtual int chunks(int phase) const noexcept = 0;  // at least one
  virtual void run(const Turn& turn) noexcept = 0;
  // Asked by one thread before each phase; false ends the work there.
  virtual bool enter(int) noexcept { return true; }
};

// Threads of the host: calls body(context, i) once for each i < n, side by side or one after another.
struct HostThreads {
  void* self = nullptr;
  void (*parallel)(void* self, int n, void (*body)(void* context, int i), void* context) = nullptr;
};

// A worker is a helper: chunks are claimed, first from the worker's own part and then from what others have left, and a
// phase is over when its chunks are done, not when its workers have arrived. So bodies that the host runs one after
// another are slow but right, and a preempted thread delays only the chunk in its hands. One thread uses no atomics.
class Team {
 public:
  // 0: as many threads as the process may use, one for a physical core.
  explicit Team(int threads = 0, HostThreads host = {},
                std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  int size() const noexcept { return size_; }

  // Opens one parallel region and works through all phases; false where enter() ended the work. One caller at a time.
  bool run(Work& work) noexcept;

  std::uint64_t regions() const noexcept { return regions_; }
  std::uint64_t barriers() const noexcept { return barriers_; }  // phases run in all

  // Calls function(chunk) for each chunk < chunks, in any order.
  template <class Function>
  void each(int chunks, const Function& function) noexcept;

 private:
  class Threads;  // where there is no host and no OpenMP
  class Walk;
  struct Parts;

  bool run_alone(Work& work, int phases) noexcept;
  void open_region(Walk& walk) noexcept;

  int size_;
  HostThreads host_;
  Owned<Parts> parts_;
  Owned<Threads> threads_;
  std::uint64_t regions_ = 0, barriers_ = 0;
};

template <class Function>
void Team::each(int chunks, const Function& function) noexcept {
  struct Each final : Work {
    int chunk_count;
    const Function* call;
    Each(int n, const Function& f) : chunk_count(n), call(&f) {}
    int phases() const noexcept override { return chunk_count > 0 ? 1 : 0; }
    int chunks(int) const noexcept override { return chunk_count; }
    void run(const Turn& turn) noexcept override { (*call)(turn.chunk); }
  } work(chunks, function);
  run(work);
}

}  // namespace inlay::base
