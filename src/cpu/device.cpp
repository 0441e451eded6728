// The device that runs kernels: plans the recorded list as phases and lets the team walk through them.
#include "cpu/device.hpp"

#include <algorithm>

#include "base/parallel.hpp"
#include "cpu/cache.hpp"
#include "cpu/pack.hpp"
#include "cpu/plan.hpp"

namespace inlay::cpu {
namespace {

// Calls act with the operation behind a recorded pointer in its own type.
template <class Act>
bool with_operation(std::uint32_t op, const void* given, Act&& act) {
  switch (op) {
    case INLAY_OP_EMBED: return act(*static_cast<const inlay_embed_op*>(given));
    case INLAY_OP_NORM: return act(*static_cast<const inlay_norm_op*>(given));
    case INLAY_OP_LINEAR: return act(*static_cast<const inlay_linear_op*>(given));
    case INLAY_OP_BINARY: return act(*static_cast<const inlay_binary_op*>(given));
    case INLAY_OP_GLU: return act(*static_cast<const inlay_glu_op*>(given));
    case INLAY_OP_ROPE: return act(*static_cast<const inlay_rope_op*>(given));
    case INLAY_OP_ATTENTION: return act(*static_cast<const inlay_attention_op*>(given));
    case INLAY_OP_PICK: return act(*static_cast<const inlay_pick_op*>(given));
    case INLAY_OP_ROUTE: return act(*static_cast<const inlay_route_op*>(given));
    case INLAY_OP_EXPERTS: return act(*static_cast<const inlay_experts_op*>(given));
    case INLAY_OP_SCAN: return act(*static_cast<const inlay_scan_op*>(given));
    case INLAY_OP_CHOOSE: return act(*static_cast<const inlay_choose_op*>(given));
    default: return false;
  }
}

}  // namespace

class Device final : public inlay_device, private base::Work {
 public:
  Device(const inlay_host& given, const Kernels& kernels)
      : inlay_device(given),
        kernels_(kernels),
        memory_(host),
        team_(given.threads, {host.self, host.parallel}, &memory_),
        plan_(host, kernels, team_.size()) {}
  ~Device() override { release(host, workspace_, workspace_bytes_); }

  const char* isa() const noexcept override { return kernels_.name; }
  std::uint32_t cache_type() const noexcept override { return kernels_.attention.fast_type; }
  const char* layout() const noexcept override { return packed_layout; }

  bool can(std::uint32_t op, const void* given) const noexcept override {
    return with_operation(op, given, [&](const auto& operation) { return cpu::can(kernels_, operation); });
  }

  std::size_t pack(const inlay_tensor& source, std::uint32_t role, std::int64_t first_row, std::int64_t rows,
                   inlay_tensor& packed) const noexcept override {
    return cpu::pack(source, role, first_row, rows, packed);
  }

  std::size_t cache_bytes(const inlay_cache& cache, int which) const noexcept override {
    return cpu::cache_bytes(cache, which);
  }
  void read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k,
                 float* v) const noexcept override {
    cpu::read_rows(cache, slots, n, k, v);
  }
  void write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k,
                  const float* v) const noexcept override {
    cpu::write_rows(cache, slots, n, k, v);
  }

  std::size_t workspace() override {
    plan_list();
    plan_.gather();
    return plan_.workspace_bytes() + plan_.kept_bytes() + list.capacity() * sizeof(Recorded);
  }

  inlay_step_status run_list() override {
    plan_list();
    const bool small = plan_.workspace_bytes() > workspace_bytes_, moved = plan_.gather();
    if (small && !grow(plan_.workspace_bytes())) return INLAY_STEP_MEMORY;
    if (small || moved) plan_list();
    const bool whole = team_.run(*this);
    ++steps_;
    return whole ? INLAY_STEP_DONE : INLAY_STEP_CANCELLED;
  }

  void count(inlay_counters& counters) const noexcept override {
    counters.steps = steps_;
    counters.regions = team_.regions();
    counters.barriers = team_.barriers();
  }

 private:
  void plan_list() {
    plan_.workspace_ = workspace_;
    plan_.restart(batch);
    for (const Recorded& item : list) {
      plan_.next_operation();
      if (item.op == layer_mark) {
        plan_.mark(item.layer);
      } else {
        with_operation(item.op, item.given, [&](const auto& operation) { return plan(plan_, operation), true; });
      }
    }
  }

  bool grow(std::size_t bytes) noexcept {
    release(host, workspace_, workspace_bytes_);
    workspace_ = static_cast<std::byte*>(allocate(host, bytes));
    workspace_bytes_ = workspace_ ? bytes : 0;
    return workspace_;
  }

  int phases() const noexcept override { return static_cast<int>(plan_.phases_.size()); }
  int chunks(int phase) const noexcept override { return plan_.phases_[phase].chunks; }
  bool enter(int phase) noexcept override {
    return plan_.phases_[phase].layer < 0 || !host.cancelled || !host.cancelled(host.self);
  }
  void run(const base::Turn& turn) noexcept override {
    const Phase& phase = plan_.phases_[turn.phase];
    std::byte* scratch = workspace_ + plan_.shared_peak_ + turn.worker * plan_.scratch_;
    phase.kernel({phase.task, &batch, scratch, turn.chunk, phase.chunks, turn.first});
  }

  const Kernels& kernels_;
  HostMemory memory_;
  base::Team team_;
  Plan plan_;
  std::byte* workspace_ = nullptr;
  std::size_t workspace_bytes_ = 0;
  std::uint64_t steps_ = 0;
};

inlay_device* open_kernels(const inlay_host& host, const Kernels& kernels) { return open_in<Device>(host, kernels); }

}  // namespace inlay::cpu
