// Keeps the pages and states of sequences in memory while they are read or written.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

class Engine::Stay {
 public:
  explicit Stay(const Engine& engine) : engine_(engine), pinned_(engine.memory()) {}
  ~Stay() {
    if (pinned_.empty()) return;
    std::lock_guard guard(engine_.memory_);
    for (const auto& [pool, block] : pinned_) pool->unpin(block);
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  // With the lock on memory held. Throws Error{memory|io}.
  void add(const Sequence& sequence) {
    auto& caches = *engine_.caches_;
    if (!caches.tiered()) return;
    if (caches.has_pages()) pin(caches.pages(), sequence.pages);
    if (sequence.source) pin(caches.pages(), sequence.source->pages);
    if (sequence.slot >= 0) pin(caches.slots(), {&sequence.slot, 1});
  }
  void add_locked(const Sequence& sequence) {
    std::lock_guard guard(engine_.memory_);
    add(sequence);
  }

 private:
  void pin(Pool& pool, std::span<const std::int32_t> blocks) {
    pinned_.reserve(pinned_.size() + blocks.size());
    for (const auto block : blocks) {
      pool.pin(block);
      pinned_.emplace_back(&pool, block);
    }
  }

  const Engine& engine_;
  std::pmr::vector<std::pair<Pool*, std::int32_t>> pinned_;
};

}  // namespace inlay::runtime
