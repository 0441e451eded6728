// The sequences of one step, as a backend is told of them.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "inlay/backend.h"

namespace backends {

// counts[i] new tokens of a sequence that then has lengths[i], in pages of a shuffled pool.
class Batch {
 public:
  explicit Batch(std::vector<int> counts, std::vector<int> lengths = {}, int page_size = 4, int streams = 1) {
    if (lengths.empty()) lengths = counts;
    length_ = lengths;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      for (int t = lengths[i] - counts[i]; t < lengths[i]; ++t) positions_.push_back(t);
      query_start_.push_back(query_start_.back() + counts[i]);
      page_start_.push_back(page_start_.back() + (lengths[i] + page_size - 1) / page_size);
      state_slot_.push_back(static_cast<int>(counts.size() - i));
    }
    const std::vector<std::int32_t> first = positions_;
    for (int s = 1; s < streams; ++s) {
      for (const int position : first) positions_.push_back(position / (s + 1));
    }
    for (int p = 0; p < page_start_.back(); ++p) page_ids_.push_back((p * 7 + 3) % page_count());
    std::iota(ids.begin(), ids.end(), 0);
  }

  // Every page of the pool has one id: 7 and the (odd) count share no factor.
  int page_count() const { return page_start_.back() + (page_start_.back() % 7 == 0 ? 1 : 0); }
  int tokens() const { return query_start_.back(); }
  std::int32_t slot(int sequence, int position, int page_size) const {
    const int page = page_start_[static_cast<std::size_t>(sequence)] + position / page_size;
    return page_ids_[static_cast<std::size_t>(page)] * page_size + position % page_size;
  }

  std::vector<std::int32_t> ids, types;

  inlay_batch view() {
    table_ = {page_start_.data(), page_ids_.data(), length_.data()};
    return {.size = sizeof(inlay_batch),
            .tokens = tokens(),
            .seqs = static_cast<int>(length_.size()),
            .tables = 1,
            .streams = tokens() ? static_cast<int>(positions_.size()) / tokens() : 1,
            .ids = ids.data(),
            .query_start = query_start_.data(),
            .positions = positions_.data(),
            .state_slot = state_slot_.data(),
            .table = &table_,
            .types = types.empty() ? nullptr : types.data()};
  }

 private:
  std::vector<std::int32_t> query_start_ = {0}, page_start_ = {0}, page_ids_, positions_, length_, state_slot_;
  inlay_page_table table_ = {};
};

}  // namespace backends
