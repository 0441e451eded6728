// Keeps the pages of sequences in memory while they are read or written.
#pragma once

#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

class Engine::Stay {
 public:
  explicit Stay(const Engine& engine) : engine_(engine) {}
  ~Stay() {
    if (pinned_.empty()) return;
    std::lock_guard guard(engine_.memory_);
    for (const auto page : pinned_) engine_.caches_->pages().unpin(page);
  }
  Stay(const Stay&) = delete;
  Stay& operator=(const Stay&) = delete;

  // With the lock on memory held. Throws Error{memory|io}.
  void add(const Sequence& sequence) {
    if (!engine_.caches_->tiered()) return;
    pinned_.reserve(pinned_.size() + sequence.pages.size());
    for (const auto page : sequence.pages) {
      engine_.caches_->pages().pin(page);
      pinned_.push_back(page);
    }
  }
  void add_locked(const Sequence& sequence) {
    std::lock_guard guard(engine_.memory_);
    add(sequence);
  }

 private:
  const Engine& engine_;
  std::vector<std::int32_t> pinned_;
};

}  // namespace inlay::runtime
