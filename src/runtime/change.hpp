// What a step does to the pages of its sequences, undone unless the step is kept.
#pragma once

#include <utility>
#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

// Pages it takes are given back, and those it copies are put in place again.
class Engine::Change {
 public:
  explicit Change(Engine& engine) : engine_(engine), taken_(engine.taken_) { taken_.clear(); }
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
    make_room(taken_), make_room(sequence.pages);
    engine_.append_page(sequence.pages);
    taken_.push_back({&sequence, sequence.pages.size() - 1, -1});
  }
  void own(Sequence& sequence, std::size_t index) {
    make_room(taken_);
    const auto own = engine_.caches_->pages().own(sequence.pages[index]);
    if (own == sequence.pages[index]) return;
    taken_.push_back({&sequence, index, std::exchange(sequence.pages[index], own)});
  }

 private:
  // For one more, which can be added then without a failure.
  template <class List>
  static void make_room(List& list) {
    if (list.size() == list.capacity()) list.reserve(2 * list.size() + 1);
  }

  Engine& engine_;
  std::pmr::vector<TakenPage>& taken_;
  bool kept_ = false;
};

}  // namespace inlay::runtime
