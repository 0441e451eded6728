// Merging neighbours, best pair first: the loop that byte-pair encoding and SentencePiece share, O(n log n).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

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
  void clear() { symbols_.clear(); }
  void push(std::size_t begin, std::size_t size, std::int32_t id) {
    const auto at = static_cast<std::int32_t>(symbols_.size());
    if (at > 0) symbols_.back().next = at;
    symbols_.push_back({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(size), at - 1, -1, id});
  }

  // `find(left, right)` gives the Merge of two neighbouring symbols, if they have one.
  template <class Find>
  void run(Find find) {
    heap_.clear();
    for (std::int32_t left = 0; left + 1 < static_cast<std::int32_t>(symbols_.size()); ++left) offer(left, find);
    while (!heap_.empty()) {
      const Candidate best = heap_.front();
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      heap_.pop_back();
      apply(best, find);
    }
  }

  // The symbols that are left, in order.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::int32_t at = symbols_.empty() ? -1 : 0; at >= 0; at = symbol(at).next) visit(symbol(at));
  }

 private:
  struct Candidate {
    std::uint64_t order;  // rank, then position
    std::uint32_t left_size, right_size;
    std::int32_t result;
    bool operator>(const Candidate& other) const { return order > other.order; }
  };

  Symbol& symbol(std::int32_t at) { return symbols_[static_cast<std::size_t>(at)]; }

  template <class Find>
  void offer(std::int32_t left, Find& find) {
    const Symbol& a = symbol(left);
    const Symbol& b = symbol(a.next);
    const std::optional<Merge> merge = find(a, b);
    if (!merge) return;
    const std::uint64_t order = std::uint64_t{merge->rank} << 32 | static_cast<std::uint32_t>(left);
    heap_.push_back({order, a.size, b.size, merge->result});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }

  template <class Find>
  void apply(const Candidate& candidate, Find& find) {
    const auto left = static_cast<std::int32_t>(candidate.order & 0xFFFFFFFF);
    Symbol& a = symbol(left);
    // Stale where either side has grown or is gone since the pair was offered: sizes tell, as positions are fixed.
    if (a.size != candidate.left_size || a.next < 0) return;
    Symbol& b = symbol(a.next);
    if (b.size != candidate.right_size) return;
    a.size += b.size;
    a.id = candidate.result;
    a.next = b.next;
    b.size = 0;
    if (a.next >= 0) symbol(a.next).previous = left;
    if (a.previous >= 0) offer(a.previous, find);
    if (a.next >= 0) offer(left, find);
  }

  std::vector<Symbol> symbols_;
  std::vector<Candidate> heap_;
};

}  // namespace inlay::text
