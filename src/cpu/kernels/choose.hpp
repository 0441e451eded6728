// Choosing keys: the scores of all that a few tokens see, block by block, and for each token the best of them.
#pragma once

#include <algorithm>
#include <limits>
#include <numeric>

#include "cpu/kernels/attention_block.hpp"
#include "cpu/kernels/attention_tile.hpp"

namespace inlay::cpu {
namespace {

// The tokens of one unit.
template <class A>
class Choosing {
 public:
  Choosing(const Chunk& chunk, const ChoosingTask& task, const ChoosingUnit& unit) noexcept
      : task_(task),
        op_(*task.op),
        unit_(unit),
        heads_(static_cast<int>(op_.q->shape[1])),
        lists_(static_cast<int>(op_.y->shape[1])),
        rows_(static_cast<int>(unit.end - unit.first) * heads_),
        scratch_(task, chunk.scratch),
        sequence_(view_of(*chunk.batch, *task.scoring.op, unit.sequence)),
        source_(task.scoring, sequence_, 0, scratch_.scoring, rows_, true, nullptr) {}

  void operator()() noexcept {
    const std::int64_t length = sequence_.position(unit_.end - 1) + 1;
    if (length > op_.y->shape[2]) score_all(length);
    for (auto token = unit_.first; token < unit_.end; ++token)
      for (int list = 0; list < lists_; ++list) write(token, list);
  }

 private:
  static constexpr float nothing = -std::numeric_limits<float>::infinity();

  float* runs_of(std::int64_t token, int list) const noexcept {
    return scratch_.runs + ((token - unit_.first) * lists_ + list) * task_.most_runs;
  }

  void score_all(std::int64_t length) noexcept {
    load_queries();
    std::fill_n(scratch_.runs, (unit_.end - unit_.first) * lists_ * task_.most_runs, nothing);
    Block block;
    for (std::int64_t key = 0; key < length; key += block_keys) {
      source_.find(key, {0, length}, block);
      for (int row = 0, count; row < rows_; row += count) {
        count = std::min(group_rows<A>, rows_ - row);
        with_rows<A>(count, [&](auto rows) {
          score<A, rows>(block, scratch_.scoring.queries + std::int64_t{row} * task_.scoring.key_dims,
                         task_.scoring.key_dims, scratch_.scoring.scores + row * score_stride);
        });
      }
      for (auto token = unit_.first; token < unit_.end; ++token) {
        const std::int64_t seen = std::min<std::int64_t>(block_keys, sequence_.position(token) + 1 - key);
        if (seen > 0) keep_best(token, key, static_cast<int>(seen));
      }
    }
  }

  void load_queries() const noexcept {
    const Rows queries(*op_.q);
    const int dims = task_.scoring.key_dims;
    for (int row = 0, count; row < rows_; row += count) {
      count = std::min(group_rows<A>, rows_ - row);
      float* place = scratch_.scoring.queries + std::int64_t{row} * dims;
      for (int r = 0; r < count; ++r) {
        const float* query = queries[unit_.first * heads_ + row + r];
        for (int d = 0; d < dims; ++d) place[d * count + r] = query[d];
      }
    }
  }

  // Takes the scores of a block's first `seen` keys into the runs of each list.
  void keep_best(std::int64_t token, std::int64_t key, int seen) const noexcept {
    const float* scores = scratch_.scoring.scores + (token - unit_.first) * heads_ * score_stride;
    if (!op_.weight) {
      for (int list = 0; list < lists_; ++list) raise(runs_of(token, list), scores + list * score_stride, key, seen);
      return;
    }
    float sums[block_keys] = {};
    const float* weights = Rows(*op_.weight)[token];
    for (int h = 0; h < heads_; ++h) {
      const float weight = weights[h];
      const float* row = scores + h * score_stride;
      for (int i = 0; i < block_keys; ++i) sums[i] += weight * std::max(0.0f, row[i]);
    }
    raise(runs_of(token, 0), sums, key, seen);
  }
  void raise(float* runs, const float* scores, std::int64_t key, int seen) const noexcept {
    for (int i = 0; i < seen; ++i) {
      float& run = runs[(key + i) / op_.run];
      if (scores[i] > run) run = scores[i];  // never where it is no number
    }
  }

  void write(std::int64_t token, int list) const noexcept {
    auto* y = RowsOf<std::int32_t>(*op_.y)[token * lists_ + list];
    const std::int64_t position = sequence_.position(token), most = op_.y->shape[2] / op_.run;
    const std::int64_t count = position / op_.run + 1;
    std::int32_t* order = scratch_.order;
    std::iota(order, order + count, 0);
    if (count > most) {
      float* runs = runs_of(token, list);
      std::fill(runs + count - std::min<std::int64_t>(op_.local, count), runs + count, -nothing);
      std::nth_element(order, order + most, order + count, [runs](std::int32_t a, std::int32_t b) {
        return runs[a] > runs[b] || (runs[a] == runs[b] && a < b);
      });
      std::sort(order, order + most);
    }
    for (std::int64_t i = 0; i < std::min(count, most); ++i) {
      const std::int64_t begin = std::int64_t{order[i]} * op_.run, end = std::min(begin + op_.run, position + 1);
      for (auto key = begin; key < end; ++key) *y++ = static_cast<std::int32_t>(key);
    }
  }

  const ChoosingTask& task_;
  const inlay_choose_op& op_;
  const ChoosingUnit& unit_;
  int heads_, lists_, rows_;
  ChoosingScratch scratch_;
  SequenceView sequence_;
  KeySource<A> source_;
};

template <class A>
void choose(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const ChoosingTask*>(chunk.task);
  Choosing<A>(chunk, task, task.units[chunk.index])();
}

}  // namespace
}  // namespace inlay::cpu
