// Collects the phases of a step and the memory they work in.
#include "cpu/plan.hpp"

#include <algorithm>
#include <cstring>

namespace inlay::cpu {
namespace {

constexpr std::size_t kept_block_bytes = std::size_t{16} << 10;

}  // namespace

Plan::Plan(const inlay_host& host, const Kernels& kernels, int workers)
    : rotations(HostAllocator<Rotations>(host)),
      host_(&host),
      kernels_(&kernels),
      workers_(workers),
      phases_(HostAllocator<Phase>(host)),
      kept_(HostAllocator<Kept>(host)) {}

Plan::~Plan() { let_go(); }

void Plan::let_go() noexcept {
  for (const Kept& block : kept_) release(*host_, block.memory, block.bytes);
  HostVector<Kept>(kept_.get_allocator()).swap(kept_);
  kept_block_ = 0;
}

void Plan::restart(const inlay_batch& batch) {
  batch_ = &batch;
  phases_.clear();
  rotations.clear();
  if (batch.tokens > most_tokens_) let_go();  // they will not do
  most_tokens_ = std::max(most_tokens_, batch.tokens);
  for (Kept& block : kept_) block.used = 0;
  kept_block_ = 0;
  shared_ = shared_peak_ = scratch_ = 0;
  layer_ = -1;
}

void Plan::phase(Kernel kernel, const void* task, std::int64_t chunks, std::size_t scratch) {
  if (chunks <= 0) return;
  scratch_ = std::max(scratch_, (scratch + alignment - 1) / alignment * alignment);
  phases_.push_back({kernel, task, static_cast<int>(chunks), layer_});
  layer_ = -1;
}

std::atomic<std::int32_t>* Plan::arrivals(std::size_t n) {
  void* memory = keep(n * sizeof(std::atomic<std::int32_t>));
  return new (memory) std::atomic<std::int32_t>[n]();
}

void* Plan::keep(std::size_t bytes) {
  bytes = (bytes + alignment - 1) / alignment * alignment;
  while (kept_block_ < kept_.size() && kept_[kept_block_].bytes - kept_[kept_block_].used < bytes) ++kept_block_;
  if (kept_block_ == kept_.size()) {
    kept_.reserve(kept_.size() + 1);
    const std::size_t size = std::max(bytes, kept_block_bytes);
    auto* memory = static_cast<std::byte*>(allocate(*host_, size));
    if (!memory) throw std::bad_alloc();
    kept_.push_back({memory, size, 0});
  }
  Kept& block = kept_[kept_block_];
  block.used += bytes;
  return block.memory + block.used - bytes;
}

bool Plan::gather() {
  if (kept_.size() < 2) return false;
  std::size_t bytes = 0;
  for (const Kept& block : kept_) bytes += block.bytes;  // as many as before: no more than that is ever taken
  let_go();
  keep(bytes);
  return true;
}

std::size_t Plan::kept_bytes() const noexcept {
  std::size_t bytes =
      phases_.capacity() * sizeof(Phase) + rotations.capacity() * sizeof(Rotations) + kept_.capacity() * sizeof(Kept);
  for (const Kept& block : kept_) bytes += block.bytes;
  return bytes;
}

}  // namespace inlay::cpu
