// Walks over the cached tokens of a sequence, layer by layer, in runs that a backend reads or writes at once.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

using Slots = std::vector<std::int32_t>;

// Where the keys and values of a token stand in a layer's cache.
inline std::int32_t slot_of(const Sequence& sequence, const inlay_cache& cache, std::size_t token) {
  const auto page = std::size_t(cache.page_size);
  return sequence.pages[token / page] * cache.page_size + std::int32_t(token % page);
}

// Calls use(layer's cache, first token, slots) for runs of cached tokens of every layer.
template <class Use>
void each_run(std::span<const inlay_cache> caches, const Sequence& sequence, const Use& use) {
  constexpr std::size_t at_once = 64;
  Slots slots;
  for (const auto& cache : caches) {
    if (!cache.size || cache.table != own_table) continue;
    for (std::size_t begin = 0; begin < sequence.cached; begin += at_once) {
      slots.clear();
      for (auto t = begin; t < std::min(sequence.cached, begin + at_once); ++t)
        slots.push_back(slot_of(sequence, cache, t));
      use(cache, begin, slots);
    }
  }
}

}  // namespace inlay::runtime
