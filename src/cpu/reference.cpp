// The reference as a device: weights stay as the file has them, operations run in the order in which they were
// recorded.
#include "cpu/reference.hpp"

#include <algorithm>

#include "cpu/cache.hpp"
#include "cpu/reference_cache.hpp"

namespace inlay::cpu {
namespace {
namespace ref = reference;

bool can_multiply(const inlay_tensor* w, bool required = true) noexcept {
  if (!w) return !required;
  return ref::is_known(w->type) && ref::columns(*w) % ref::block_values(w->type) == 0;
}

bool can(const inlay_embed_op& op) noexcept { return can_multiply(op.table); }

bool can(const inlay_linear_op& op) noexcept {
  for (int i = 0; i < op.n; ++i) {
    if (!can_multiply(op.w[i])) return false;
  }
  return !op.glu || op.n == 2;
}

bool can(const inlay_experts_op& op) noexcept {
  return can_multiply(op.gate) && can_multiply(op.up, false) && can_multiply(op.down);
}

bool can(const inlay_attention_op& op) noexcept { return !op.cache || can_cache(*op.cache); }

class Reference final : public inlay_device {
 public:
  using inlay_device::inlay_device;

  const char* isa() const noexcept override { return "reference"; }
  const char* layout() const noexcept override { return "file"; }

  bool can(std::uint32_t op, const void* given) const noexcept override {
    switch (op) {
      case INLAY_OP_EMBED: return cpu::can(*static_cast<const inlay_embed_op*>(given));
      case INLAY_OP_LINEAR: return cpu::can(*static_cast<const inlay_linear_op*>(given));
      case INLAY_OP_EXPERTS: return cpu::can(*static_cast<const inlay_experts_op*>(given));
      case INLAY_OP_ATTENTION: return cpu::can(*static_cast<const inlay_attention_op*>(given));
      default: return op < INLAY_OP_COUNT;
    }
  }

  std::size_t pack(const inlay_tensor&, std::uint32_t, std::int64_t, std::int64_t,
                   inlay_tensor&) const noexcept override {
    return 0;
  }

  std::size_t cache_bytes(const inlay_cache& cache, int which) const noexcept override {
    return ref::page_bytes(cache, which);
  }

  void read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k,
                 float* v) const noexcept override;
  void write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k,
                  const float* v) const noexcept override;

  std::size_t workspace() override { return 0; }  // nothing is kept between operations
  inlay_step_status run_list() override;

  void count(inlay_counters& counters) const noexcept override {
    counters.steps = counters.regions = steps_;
    counters.barriers = operations_;
  }

 private:
  std::uint64_t steps_ = 0, operations_ = 0;
};

void run(const ref::Step& step, const Recorded& recorded) {
  switch (recorded.op) {
    case INLAY_OP_EMBED: return ref::run(step, *static_cast<const inlay_embed_op*>(recorded.given));
    case INLAY_OP_NORM: return ref::run(step, *static_cast<const inlay_norm_op*>(recorded.given));
    case INLAY_OP_LINEAR: return ref::run(step, *static_cast<const inlay_linear_op*>(recorded.given));
    case INLAY_OP_BINARY: return ref::run(step, *static_cast<const inlay_binary_op*>(recorded.given));
    case INLAY_OP_GLU: return ref::run(step, *static_cast<const inlay_glu_op*>(recorded.given));
    case INLAY_OP_ROPE: return ref::run(step, *static_cast<const inlay_rope_op*>(recorded.given));
    case INLAY_OP_ATTENTION: return ref::run(step, *static_cast<const inlay_attention_op*>(recorded.given));
    case INLAY_OP_PICK: return ref::run(step, *static_cast<const inlay_pick_op*>(recorded.given));
    case INLAY_OP_ROUTE: return ref::run(step, *static_cast<const inlay_route_op*>(recorded.given));
    case INLAY_OP_EXPERTS: return ref::run(step, *static_cast<const inlay_experts_op*>(recorded.given));
    case INLAY_OP_SCAN: return ref::run(step, *static_cast<const inlay_scan_op*>(recorded.given));
    case INLAY_OP_CHOOSE: return ref::run(step, *static_cast<const inlay_choose_op*>(recorded.given));
    default: return;
  }
}

inlay_step_status Reference::run_list() {
  ++steps_;
  for (const Recorded& recorded : list) {
    if (recorded.op == layer_mark) {
      if (host.cancelled && host.cancelled(host.self)) return INLAY_STEP_CANCELLED;
      continue;
    }
    run({host, batch}, recorded);
    ++operations_;
  }
  return INLAY_STEP_DONE;
}

void Reference::read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k,
                          float* v) const noexcept {
  if (cache.kind == INLAY_CACHE_STATE) return cpu::read_rows(cache, slots, n, k, v);
  for (int i = 0; i < n; ++i) {
    for (int head = 0; head < cache.heads; ++head) {
      const std::int64_t row = std::int64_t{i} * cache.heads + head;
      if (k) ref::load(cache, ref::keys, slots[i], head, k + row * cache.k_dim);
      if (v) ref::load(cache, ref::values, slots[i], head, v + row * cache.v_dim);
    }
  }
}

void Reference::write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k,
                           const float* v) const noexcept {
  if (cache.kind == INLAY_CACHE_STATE) return cpu::write_rows(cache, slots, n, k, v);
  for (int i = 0; i < n; ++i) {
    for (int head = 0; head < cache.heads; ++head) {
      const std::int64_t row = std::int64_t{i} * cache.heads + head;
      ref::store(cache, ref::keys, slots[i], head, k + row * cache.k_dim);
      if (cache.kind == INLAY_CACHE_KV) ref::store(cache, ref::values, slots[i], head, v + row * cache.v_dim);
    }
  }
}

}  // namespace

inlay_device* open_reference(const inlay_host& host) { return open_in<Reference>(host); }

}  // namespace inlay::cpu
