// How an operation becomes phases: each says which kernel works on what, in how many chunks and with how much scratch.
#pragma once

#include <atomic>
#include <memory>

#include "cpu/kernels.hpp"
#include "cpu/memory.hpp"

namespace inlay::cpu {

struct Phase {
  Kernel kernel;
  const void* task;
  int chunks;
  int layer;  // asks for cancellation before this phase; -1: does not
};

// Built anew for each step, before its parallel region. Data pointers may be null while a step is only measured.
class Plan {
 public:
  Plan(const inlay_host& host, const Kernels& kernels, int workers);

  const Kernels& kernels() const noexcept { return *kernels_; }
  const inlay_batch& batch() const noexcept { return *batch_; }
  int workers() const noexcept { return workers_; }

  // Adds a phase. Every worker gets `scratch` bytes of its own, which keep their contents until the phase is over.
  void phase(Kernel kernel, const void* task, std::int64_t chunks, std::size_t scratch = 0);

  // Memory that all workers share and that is this operation's until its last phase is over.
  template <class T>
  T* shared(std::size_t n) {
    const std::size_t offset = shared_;
    shared_ += (n * sizeof(T) + alignment - 1) / alignment * alignment;
    shared_peak_ = std::max(shared_peak_, shared_);
    return reinterpret_cast<T*>(workspace_ + offset);
  }

  // A description of work that stays until the step is over.
  template <class T>
  T* task(const T& value) {
    return new (keep(sizeof(T))) T(value);
  }

  // Memory that stays until the step is over.
  template <class T>
  T* kept(std::size_t n) {
    return static_cast<T*>(keep(n * sizeof(T)));
  }

  // What rotations.hpp computed so far in this step.
  struct Rotations {
    const inlay_rope_op* op;
    const void* turns;
  };
  HostVector<Rotations> rotations;

  // Counters that are zero when the step starts, for "the last to arrive merges".
  std::atomic<std::int32_t>* arrivals(std::size_t n);

 private:
  friend class Device;

  void restart(const inlay_batch& batch);
  void next_operation() noexcept { shared_ = 0; }
  void mark(int layer) noexcept { layer_ = layer; }
  std::size_t workspace_bytes() const noexcept { return shared_peak_ + workers_ * scratch_; }
  void* keep(std::size_t bytes);
  // Puts what the planned step keeps into one block; true: it has moved, so the step must be planned again.
  bool gather();
  void let_go() noexcept;
  std::size_t kept_bytes() const noexcept;  // with the lists of this plan

  struct Kept {
    std::byte* memory;
    std::size_t bytes, used;
  };

  const inlay_host* host_;
  const Kernels* kernels_;
  const inlay_batch* batch_ = nullptr;
  int workers_, layer_ = -1;
  std::int32_t most_tokens_ = 0;  // of a step so far
  std::byte* workspace_ = nullptr;
  std::size_t shared_ = 0, shared_peak_ = 0, scratch_ = 0;
  HostVector<Phase> phases_;
  HostVector<Kept> kept_;
  std::size_t kept_block_ = 0;

 public:
  ~Plan();
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;
};

// One pair for each operation: can these kernels do it, and what are its phases.
bool can(const Kernels&, const inlay_embed_op&) noexcept;
bool can(const Kernels&, const inlay_norm_op&) noexcept;
bool can(const Kernels&, const inlay_linear_op&) noexcept;
bool can(const Kernels&, const inlay_binary_op&) noexcept;
bool can(const Kernels&, const inlay_glu_op&) noexcept;
bool can(const Kernels&, const inlay_rope_op&) noexcept;
bool can(const Kernels&, const inlay_attention_op&) noexcept;
bool can(const Kernels&, const inlay_pick_op&) noexcept;
bool can(const Kernels&, const inlay_route_op&) noexcept;
bool can(const Kernels&, const inlay_experts_op&) noexcept;
bool can(const Kernels&, const inlay_scan_op&) noexcept;
bool can(const Kernels&, const inlay_choose_op&) noexcept;

void plan(Plan&, const inlay_embed_op&);
void plan(Plan&, const inlay_norm_op&);
void plan(Plan&, const inlay_linear_op&);
void plan(Plan&, const inlay_binary_op&);
void plan(Plan&, const inlay_glu_op&);
void plan(Plan&, const inlay_rope_op&);
void plan(Plan&, const inlay_attention_op&);
void plan(Plan&, const inlay_pick_op&);
void plan(Plan&, const inlay_route_op&);
void plan(Plan&, const inlay_experts_op&);
void plan(Plan&, const inlay_scan_op&);
void plan(Plan&, const inlay_choose_op&);

}  // namespace inlay::cpu
