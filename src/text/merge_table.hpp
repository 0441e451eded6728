// What two neighbouring symbols of byte-pair encoding merge into: a hash table of pairs.
#pragma once

#include <bit>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "text/merge.hpp"

namespace inlay::text {

class MergeTable {
 public:
  struct Listed {
    std::int32_t left, right, result;
  };

  MergeTable(std::size_t merges, std::pmr::memory_resource* memory)
      : slots_(std::bit_ceil(merges + merges / 2 + 1), memory), merges_(memory) {
    merges_.reserve(merges);
  }

  // The merge of the next rank. A pair that is there already keeps its lower one.
  void add(const Listed& merge) {
    Slot& slot = slots_[place(merge.left, merge.right)];
    if (slot.rank < 0) slot = {tag(hash_of(merge.left, merge.right)), static_cast<std::int32_t>(merges_.size())};
    merges_.push_back(merge);
  }
  // Asks for the memory that add() will need, which a few may do side by side.
  void fetch(const Listed& merge) const {
    __builtin_prefetch(&slots_[hash_of(merge.left, merge.right) & (slots_.size() - 1)]);
  }

  std::optional<Merge> find(std::int32_t left, std::int32_t right) const {
    if (left < 0 || right < 0) return std::nullopt;
    const std::int32_t rank = slots_[place(left, right)].rank;
    if (rank < 0) return std::nullopt;
    return Merge{static_cast<std::uint32_t>(rank), merges_[static_cast<std::size_t>(rank)].result};
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::int32_t rank = -1;  // -1: free
  };

  static std::uint64_t hash_of(std::int32_t left, std::int32_t right) {
    const std::uint64_t key = std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
    const std::uint64_t hash = key * 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: spreads what differs in any bit
    return hash ^ hash >> 32;
  }
  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

  // Where the pair is, or the free slot where it would be: a third of the slots stays free.
  std::size_t place(std::int32_t left, std::int32_t right) const {
    const std::uint64_t hash = hash_of(left, right);
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.rank < 0) return at;
      if (slot.tag != tag(hash)) continue;
      const Listed& merge = merges_[static_cast<std::size_t>(slot.rank)];
      if (merge.left == left && merge.right == right) return at;
    }
  }

  std::pmr::vector<Slot> slots_;
  std::pmr::vector<Listed> merges_;  // by rank
};

}  // namespace inlay::text
