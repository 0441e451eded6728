// What two neighbouring symbols of byte-pair encoding merge into: a hash table of pairs.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "text/merge.hpp"

namespace inlay::text {

class MergeTable {
 public:
  explicit MergeTable(std::size_t pairs = 0) : slots_(std::bit_ceil(pairs + pairs / 2 + 1)) {}

  // A pair that is there already keeps its merge.
  void insert(std::int32_t left, std::int32_t right, Merge merge) {
    Slot& slot = slots_[place(key(left, right))];
    if (slot.key == free) slot = {key(left, right), merge};
  }

  std::optional<Merge> find(std::int32_t left, std::int32_t right) const {
    if (left < 0 || right < 0) return std::nullopt;
    const Slot& slot = slots_[place(key(left, right))];
    return slot.key == free ? std::nullopt : std::optional(slot.merge);
  }

 private:
  static constexpr std::uint64_t free = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key = free;
    Merge merge;
  };

  static std::uint64_t key(std::int32_t left, std::int32_t right) {
    return std::uint64_t{static_cast<std::uint32_t>(left)} << 32 | static_cast<std::uint32_t>(right);
  }

  // Where the pair is, or the free slot where it would be.
  std::size_t place(std::uint64_t wanted) const {
    const std::size_t mask = slots_.size() - 1;
    std::uint64_t hash = wanted * 0x9E3779B97F4A7C15;  // 2^64 over the golden ratio: spreads what differs in any bit
    for (std::size_t at = (hash ^ hash >> 32) & mask;; at = (at + 1) & mask)
      if (slots_[at].key == wanted || slots_[at].key == free) return at;
  }

  std::vector<Slot> slots_;
};

}  // namespace inlay::text
