// Walks over what a sequence keeps of tokens, layer by layer, in runs that a backend reads or writes at once.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "runtime/engine.hpp"

namespace inlay::runtime {

using Slots = std::vector<std::int32_t>;

// Tokens whose keys and values stand in pages of one table.
struct KeptTokens {
  PageTable table;
  std::span<const std::int32_t> pages;
  std::size_t count;
};
inline KeptTokens own_tokens(const Sequence& sequence) { return {own_table, sequence.pages, sequence.cached}; }
inline KeptTokens source_tokens(const Sequence& sequence) {
  if (!sequence.source) return {source_table, {}, 0};
  return {source_table, sequence.source->pages, sequence.source->tokens.size()};
}

// Where the keys and values of a token stand in a layer's cache.
inline std::int32_t slot_of(std::span<const std::int32_t> pages, const inlay_cache& cache, std::size_t token) {
  const auto page = std::size_t(cache.page_size);
  return pages[token / page] * cache.page_size + std::int32_t(token % page);
}

// Calls use(layer's cache, first token, slots) for runs of the tokens in every layer that keeps them.
template <class Use>
void each_run(std::span<const inlay_cache> caches, const KeptTokens& tokens, const Use& use) {
  constexpr std::size_t at_once = 64;
  Slots slots;
  for (const auto& cache : caches) {
    if (!cache.size || cache.table != tokens.table) continue;
    for (std::size_t begin = 0; begin < tokens.count; begin += at_once) {
      slots.clear();
      for (auto t = begin; t < std::min(tokens.count, begin + at_once); ++t)
        slots.push_back(slot_of(tokens.pages, cache, t));
      use(cache, begin, slots);
    }
  }
}

}  // namespace inlay::runtime
