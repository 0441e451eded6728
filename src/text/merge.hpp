// Merging neighbours, best pair first: the loop that byte-pair encoding and SentencePiece share, O(n log n).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <vector>

#include "inlay/error.hpp"

namespace inlay::text {

// A stretch of the text, linked to its neighbours.
struct Symbol {
  std::uint32_t begin = 0, size = 0;      // bytes; size 0: absorbed by its left neighbour
  std::int32_t previous = -1, next = -1;  // -1: none
  std::int32_t id = -1;                   // what the merger knows it by
};

struct Merge {
  std::uint32_t rank = 0;  // the lowest is merged first, the leftmost among equals
  std::int32_t result = -1;
};

class Merger {
 public:
  static constexpr std::size_t most_symbols = std::size_t{1} << 23;  // of one word: 240 MB while it is merged

  explicit Merger(std::pmr::memory_resource* memory) : symbols_(memory), heap_(memory) {}

  void clear() { symbols_.clear(); }
  void push(std::size_t begin, std::size_t size, std::int32_t id) {
    if (symbols_.size() == most_symbols)
      throw Error(Errc::argument, "the text has more than 8388608 characters without a border of words", Fault::limit);
    const auto at = static_cast<std::int32_t>(symbols_.size());
    if (at > 0) symbols_.back().next = at;
    symbols_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size), at - 1, -1, id});
  }

  // `find(left, right)` gives the Merge of two neighbouring symbols, if they have one.
  template <class Find>
  void run(Find find) {
    heap_.clear();
    for (std::int32_t left = 0; left + 1 < static_cast<std::int32_t>(symbols_.size()); ++left)
      if (const auto merge = merge_at(left, find)) heap_.push_back(order(*merge, left));
    std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
    while (!heap_.empty()) {
      const std::uint64_t best = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      const auto left = static_cast<std::int32_t>(best & 0xFFFFFFFF);
      // Stale where either side has grown or is gone since the pair was offered.
      if (const auto merge = merge_at(left, find); merge && order(*merge, left) == best) apply(*merge, left, find);
    }
  }

  // The symbols that are left, in order.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::int32_t at = symbols_.empty() ? -1 : 0; at >= 0; at = symbol(at).next) visit(symbol(at));
  }

 private:
  Symbol& symbol(std::int32_t at) { return symbols_[static_cast<std::size_t>(at)]; }

  // Rank first, then position.
  static std::uint64_t order(const Merge& merge, std::int32_t left) {
    return std::uint64_t{merge.rank} << 32 | static_cast<std::uint32_t>(left);
  }

  template <class Find>
  std::optional<Merge> merge_at(std::int32_t left, Find& find) {
    const Symbol& a = symbol(left);
    return a.size > 0 && a.next >= 0 ? find(a, symbol(a.next)) : std::nullopt;
  }

  template <class Find>
  void offer(std::int32_t left, Find& find) {
    const auto merge = merge_at(left, find);
    if (!merge) return;
    heap_.push_back(order(*merge, left));
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  template <class Find>
  void apply(const Merge& merge, std::int32_t left, Find& find) {
    Symbol& a = symbol(left);
    Symbol& b = symbol(a.next);
    a.size += b.size;
    a.id = merge.result;
    a.next = b.next;
    b.size = 0;
    if (a.next >= 0) symbol(a.next).previous = left;
    if (a.previous >= 0) offer(a.previous, find);
    offer(left, find);
  }

  std::pmr::vector<Symbol> symbols_;
  std::pmr::vector<std::uint64_t> heap_;  // the pairs to merge, by order
};

}  // namespace inlay::text
