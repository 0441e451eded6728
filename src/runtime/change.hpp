// What a step does to the pages of its sequences, undone unless the step is kept.
#pragma once

#include <utility>
#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

// Pages it takes are given back, and those it copies are put in place again.
class Engine::Change {
 public:
  explicit Change(Engine& engine) : engine_(engine) {}
  ~Change() {
    std::lock_guard guard(engine_.memory_);
    for (auto i = taken_.rbegin(); i != taken_.rend(); ++i) {
      auto& pool = engine_.caches_->pages();
      auto& pages = i->sequence->pages;
      if (kept_) {
        if (i->before >= 0) pool.release(i->before);
      } else if (i->before >= 0) {
        pool.release(std::exchange(pages[i->index], i->before));
      } else {
        pool.release(pages.back());
        pages.pop_back();
      }
    }
  }
  void keep() noexcept { kept_ = true; }

  void append(Sequence& sequence) {
    taken_.reserve(taken_.size() + 1), sequence.pages.reserve(sequence.pages.size() + 1);
    engine_.append_page(sequence.pages);
    taken_.push_back({&sequence, sequence.pages.size() - 1, -1});
  }
  void own(Sequence& sequence, std::size_t index) {
    taken_.reserve(taken_.size() + 1);
    const auto own = engine_.caches_->pages().own(sequence.pages[index]);
    if (own == sequence.pages[index]) return;
    taken_.push_back({&sequence, index, std::exchange(sequence.pages[index], own)});
  }

 private:
  struct Taken {
    Sequence* sequence;
    std::size_t index;
    std::int32_t before;  // -1: appended
  };
  Engine& engine_;
  std::vector<Taken> taken_;
  bool kept_ = false;
};

}  // namespace inlay::runtime
