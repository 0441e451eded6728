// Attention: tiles of queries against the keys they see, 64 at a time, with one running softmax for each query.
#pragma once

#include <algorithm>

#include "cpu/kernels/attention_block.hpp"
#include "cpu/kernels/attention_tile.hpp"
#include "cpu/kernels/softmax.hpp"
#include "cpu/kernels/store.hpp"

namespace inlay::cpu {
namespace {

// One tile of queries with one head of keys and values.
template <class A>
class Attending {
 public:
  Attending(const Chunk& chunk, const AttentionTask& task, const QueryTile& tile, int head) noexcept
      : task_(task),
        op_(*task.op),
        tile_(tile),
        head_(head),
        rows_(static_cast<int>(tile.end_row - tile.first_row)),
        groups_((rows_ + group_rows<A> - 1) / group_rows<A>),
        scratch_(task, chunk.scratch),
        sequence_(view_of(*chunk.batch, *task.op, tile.sequence)),
        source_(task, *chunk.batch, sequence_, head, scratch_, rows_) {}

  void operator()(KeyRange parts) noexcept {
    if (task_.stores) store_new(parts);
    load_queries();
    if (!tile_.partial) {
      clear(scratch_.all_sums, scratch_.all_largest, scratch_.all_weight);
      for (auto part = parts.begin; part < parts.end; ++part) {
        attend(part);
        for (int r = 0; r < rows_; ++r) join<A>(whole(r), current(r), task_.value_stride);
      }
      return write();
    }
    for (auto part = parts.begin; part < parts.end; ++part) {
      attend(part);
      for (int r = 0; r < rows_; ++r) keep(part, r);
    }
    const auto done = static_cast<std::int32_t>(parts.end - parts.begin), all = static_cast<std::int32_t>(count());
    if (tile_.arrived[head_].fetch_add(done, std::memory_order_acq_rel) + done < all) return;
    clear(scratch_.all_sums, scratch_.all_largest, scratch_.all_weight);
    for (auto part = tile_.parts.begin; part < tile_.parts.end; ++part) {
      for (int r = 0; r < rows_; ++r) join<A>(whole(r), kept(part, r), task_.value_stride);
    }
    write();
  }

 private:
  std::int64_t count() const noexcept { return tile_.parts.end - tile_.parts.begin; }
  std::int64_t token_of(int row) const noexcept { return sequence_.first + (tile_.first_row + row) / task_.queries_per_head; }
  std::int64_t position_of(int row) const noexcept { return sequence_.length - (sequence_.end - token_of(row)); }
  std::int64_t query_head(int row) const noexcept {
    return std::int64_t{head_} * task_.queries_per_head + (tile_.first_row + row) % task_.queries_per_head;
  }
  KeyRange seen_by(int row) const noexcept { return visible_keys(op_, position_of(row), sequence_.length); }
  int group_begin(int group) const noexcept { return rows_ * group / groups_; }

  RowState current(int row) const noexcept {
    return {scratch_.sums + std::int64_t{row} * task_.value_stride, scratch_.largest + row, scratch_.weight + row};
  }
  RowState whole(int row) const noexcept {
    return {scratch_.all_sums + std::int64_t{row} * task_.value_stride, scratch_.all_largest + row, scratch_.all_weight + row};
  }
  RowState kept(std::int64_t part, int row) const noexcept {
    const std::int64_t stride = task_.value_stride + 2;
    float* place = tile_.partial + ((head_ * count() + part - tile_.parts.begin) * rows_ + row) * stride;
    return {place + 2, place, place + 1};
  }
  void keep(std::int64_t part, int row) const noexcept {
    const RowState from = current(row), to = kept(part, row);
    std::copy_n(from.sums, task_.value_stride, to.sums);
    *to.largest = *from.largest;
    *to.weight = *from.weight;
  }
  void clear(float* sums, float* largest, float* weight) const noexcept {
    std::fill_n(sums, std::int64_t{rows_} * task_.value_stride, 0.0f);
    std::fill_n(largest, rows_, nothing_seen);
    std::fill_n(weight, rows_, 0.0f);
  }

  // This step's keys and values that lie in these parts.
  void store_new(KeyRange parts) const noexcept {
    for (auto token = sequence_.first; token < sequence_.end; ++token) {
      const std::int64_t part = (sequence_.length - (sequence_.end - token)) / part_keys;
      if (part >= parts.begin && part < parts.end) store_token<A>(task_, sequence_, token, head_, scratch_.vector);
    }
  }

  void load_queries() const noexcept {
    const Rows queries(*op_.q);
    const int dims = task_.key_dims;
    for (int group = 0; group < groups_; ++group) {
      const int begin = group_begin(group), rows = group_begin(group + 1) - begin;
      for (int r = 0; r < rows; ++r) {
        const std::int64_t token = token_of(begin + r);
        const float* query = queries[token * task_.heads * task_.queries_per_head + query_head(begin + r)];
        if (task_.query_turns) {
          std::copy_n(query, dims, scratch_.vector);
          rotate_head(*op_.rope_q, task_.query_turns + token * (op_.rope_q->dims / 2), query, scratch_.vector);
          query = scratch_.vector;
        }
        float* place = scratch_.queries + std::int64_t{begin} * dims + r;
        for (int d = 0; d < dims; ++d) place[d * rows] = query[d] * op_.scale;
      }
    }
  }

  // The state of all rows after the keys of one part alone.
  void attend(std::int64_t part) noexcept {
    clear(scratch_.sums, scratch_.largest, scratch_.weight);
    const KeyRange first = seen_by(0), last = seen_by(rows_ - 1);  // both ends only grow with the position
    const KeyRange seen = {std::max(first.begin, part * part_keys), std::min(last.end, (part + 1) * part_keys)};
    for (auto key = seen.begin / block_keys * block_keys; key < seen.end; key += block_keys) {
      Block block;
      source_.find(key, seen, block);
      for (int group = 0; group < groups_; ++group) {
        const int begin = group_begin(group);
        with_rows<A>(group_begin(group + 1) - begin, [&](auto rows) { attend_group<rows>(block, key, begin); });
      }
    }
  }

  template <int rows>
  void attend_group(const Block& block, std::int64_t key, int begin) noexcept {
    const KeyRange first = seen_by(begin), last = seen_by(begin + rows - 1);
    if (last.end <= key || first.begin >= key + block_keys) return;
    score<A, rows>(block, scratch_.queries + std::int64_t{begin} * task_.key_dims, task_.key_dims, scratch_.scores);
    float factors[rows];
    for (int r = 0; r < rows; ++r) {
      const int row = begin + r;
      const KeyRange seen = seen_by(row);
      float bias[block_keys];
      const BlockView view = {{seen.begin - key, seen.end - key}, position_of(row) - key, op_.softcap, slope_of(row),
                              task_.distance_bias ? fill_bias(bias, key, row) : nullptr};
      factors[r] = weigh<A>(view, scratch_.scores + r * block_keys, scratch_.largest[row], scratch_.weight[row]);
    }
    add_values<A, rows>(block, scratch_.scores, factors, current(begin).sums, task_.value_stride);
  }

  float slope_of(int row) const noexcept {
    return op_.slopes ? static_cast<const float*>(op_.slopes->data)[query_head(row)] : 0;
  }
  const float* fill_bias(float* bias, std::int64_t key, int row) const noexcept {
    const std::int64_t heads = std::int64_t{task_.heads} * task_.queries_per_head;
    for (int i = 0; i < block_keys; ++i) {
      const std::int64_t distance = std::clamp<std::int64_t>(key + i - position_of(row), -far_away, far_away);
      bias[i] = task_.distance_bias[(distance + far_away) * heads + query_head(row)];
    }
    return bias;
  }

  void write() const noexcept {
    const Rows y(*op_.y);
    const auto* sinks = op_.sinks ? static_cast<const float*>(op_.sinks->data) : nullptr;
    for (int r = 0; r < rows_; ++r) {
      const std::int64_t head = query_head(r);
      finish<A>(whole(r), sinks ? sinks + head : nullptr, y[token_of(r) * task_.heads * task_.queries_per_head + head], task_.value_dims);
    }
  }

  const AttentionTask& task_;
  const inlay_attention_op& op_;
  const QueryTile& tile_;
  int head_, rows_, groups_;
  AttentionScratch scratch_;
  SequenceView sequence_;
  KeySource<A> source_;
};

template <class A>
void attend(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const AttentionTask*>(chunk.task);
  const AttentionUnit& unit = task.units[chunk.index / task.heads];
  Attending<A>(chunk, task, *unit.tile, chunk.index % task.heads)(unit.parts);
}

}  // namespace
}  // namespace inlay::cpu
