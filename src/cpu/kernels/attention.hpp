// Attention: tiles of queries against the keys they see, 64 at a time, with one running softmax for each query.
#pragma once

#include <algorithm>

#include "cpu/kernels/attention_block.hpp"
#include "cpu/kernels/attention_tile.hpp"
#include "cpu/kernels/quantize.hpp"
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
        source_(task, sequence_, head, scratch_, rows_, false,
                chosen_for(*task.op, sequence_, sequence_.first + tile.first_row / task.queries_per_head, head)) {}

  void operator()(KeyRange parts) noexcept {
    if (task_.stores) store_new(parts);
    load_queries();
    if (!tile_.partial) {
      clear(scratch_.all_sums, scratch_.all_largest, scratch_.all_weight);
      attend(parts, [&](std::int64_t) {
        for (int r = 0; r < rows_; ++r) join<A>(whole(r), current(r), task_.value_stride);
      });
      return write();
    }
    attend(parts, [&](std::int64_t part) {
      for (int r = 0; r < rows_; ++r) keep(part, r);
    });
    const auto done = static_cast<std::int32_t>(parts.end - parts.begin), all = static_cast<std::int32_t>(part_count());
    if (tile_.arrived[head_].fetch_add(done, std::memory_order_acq_rel) + done < all) return;
    clear(scratch_.all_sums, scratch_.all_largest, scratch_.all_weight);
    for (auto part = tile_.parts.begin; part < tile_.parts.end; ++part) {
      for (int r = 0; r < rows_; ++r) join<A>(whole(r), kept(part, r), task_.value_stride);
    }
    write();
  }

 private:
  std::int64_t part_count() const noexcept { return tile_.parts.end - tile_.parts.begin; }
  int group_begin(int group) const noexcept { return rows_ * group / groups_; }

  RowState current(int row) const noexcept {
    return {scratch_.sums + std::int64_t{row} * task_.value_stride, scratch_.largest + row, scratch_.weight + row};
  }
  RowState whole(int row) const noexcept {
    return {scratch_.all_sums + std::int64_t{row} * task_.value_stride, scratch_.all_largest + row,
            scratch_.all_weight + row};
  }
  RowState kept(std::int64_t part, int row) const noexcept {
    const std::int64_t stride = task_.value_stride + 2;
    float* place = tile_.partial + ((head_ * part_count() + part - tile_.parts.begin) * rows_ + row) * stride;
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
    sequence_.each_stored(0, INT64_MAX, [&](std::int64_t token, std::int64_t position) {
      const std::int64_t part = position / part_keys;
      if (part >= parts.begin && part < parts.end)
        store_token<A>(task_, sequence_, token, position, head_, scratch_.vector);
    });
  }

  void load_queries() const noexcept {
    const Rows queries(*op_.q);
    const std::int64_t together = task_.queries_per_head, heads = together * task_.heads;
    const int dims = task_.key_dims;
    for (int group = 0; group < groups_; ++group) {
      const int begin = group_begin(group), rows = group_begin(group + 1) - begin;
      for (int r = 0; r < rows; ++r) {
        const std::int64_t number = tile_.first_row + begin + r;
        AttentionRow& row = scratch_.rows[begin + r];
        row.token = sequence_.first + number / together;
        row.head = head_ * together + number % together;
        row.position = sequence_.position(row.token);
        row.seen = keys_seen(op_, sequence_, row.token);
        const float* query = queries[row.token * heads + row.head];
        if (task_.query_turns) {
          std::copy_n(query, dims, scratch_.vector);
          rotate_head(*op_.rope_q, task_.query_turns + row.token * (op_.rope_q->dims / 2), query, scratch_.vector);
          query = scratch_.vector;
        }
        float* place = scratch_.queries + std::int64_t{begin} * dims;
        if (source_.keys_as_pairs()) {
          put_pairs(query, rows, r, reinterpret_cast<std::uint16_t*>(place));
        } else {
          for (int d = 0; d < dims; ++d) place[d * rows + r] = query[d] * op_.scale;
        }
      }
    }
  }

  // Row r of a group's queries, [key_dims / 2][rows] pairs.
  void put_pairs(const float* query, int rows, int r, std::uint16_t* place) const noexcept {
    const int dims = task_.key_dims;
    for (int d = 0; d < dims; ++d) scratch_.vector[d] = query[d] * op_.scale;
    const std::uint16_t* words = round_in_place(scratch_.vector, dims);
    for (int d = 0; d < dims; d += 2) {
      std::uint16_t* pair = place + (d / 2 * rows + r) * 2;
      pair[0] = words[d];
      pair[1] = d + 1 < dims ? words[d + 1] : std::uint16_t{0};
    }
  }
  // To bfloat16 in the first half of the place: every vector is read before half of it is written.
  static std::uint16_t* round_in_place(float* numbers, int n) noexcept {
    auto* words = reinterpret_cast<std::uint16_t*>(numbers);
    to_bfloats<A>(numbers, n, words);
    return words;
  }

  // Brings the state of all rows through each part alone, and calls done(part) after it.
  template <class Done>
  void attend(KeyRange parts, Done done) noexcept {
    // Both ends of what is seen only grow with the position.
    const std::int64_t first = std::max(scratch_.rows[0].seen.begin, parts.begin * part_keys);
    const std::int64_t end = std::min(scratch_.rows[rows_ - 1].seen.end, parts.end * part_keys);
    Block blocks[2];
    Block *block = &blocks[0], *next = &blocks[1];
    clear(scratch_.sums, scratch_.largest, scratch_.weight);
    for (std::int64_t key = first / block_keys * block_keys, after; key < end; key = after) {
      after = key + block_keys;
      if (!source_.in_place()) {
        source_.find(key, {first, end}, *block);
        source_.fetch(after, {first, end});
      } else {
        if (key <= first) source_.find(key, {first, end}, *block);
        source_.find(after, {first, end}, *next);
        source_.link(*block, *next);
      }
      attend(*block, key);
      std::swap(block, next);
      if (after % part_keys != 0 && after < end) continue;
      done(key / part_keys);
      clear(scratch_.sums, scratch_.largest, scratch_.weight);
    }
  }

  // All keys first, then all values: each stays in the first-level cache meanwhile.
  void attend(const Block& block, std::int64_t key) noexcept {
    const auto sees = [&](int group) {
      const KeyRange first = scratch_.rows[group_begin(group)].seen,
                     last = scratch_.rows[group_begin(group + 1) - 1].seen;
      return last.end > key && first.begin < key + block_keys;
    };
    for (int group = 0; group < groups_; ++group) {
      const int begin = group_begin(group);
      if (sees(group))
        with_rows<A>(group_begin(group + 1) - begin, [&](auto rows) { weigh_keys<rows>(block, key, begin); });
    }
    Run runs[block_keys / tile_keys];
    const int count = runs_of(block, runs);
    for (int group = 0; group < groups_; ++group) {
      const int begin = group_begin(group);
      if (!sees(group)) continue;
      with_rows<A>(group_begin(group + 1) - begin, [&](auto rows) {
        add_values<A, rows>(runs, count, scratch_.scores + begin * score_stride, scratch_.factors + begin,
                            current(begin).sums, task_.value_stride);
      });
    }
  }

  template <int rows>
  void weigh_keys(const Block& block, std::int64_t key, int begin) noexcept {
    float* scores = scratch_.scores + begin * score_stride;
    score<A, rows>(block, scratch_.queries + std::int64_t{begin} * task_.key_dims, task_.key_dims, scores);
    for (int r = 0; r < rows; ++r) {
      const AttentionRow& row = scratch_.rows[begin + r];
      float bias[block_keys];
      const BlockView view = {{row.seen.begin - key, row.seen.end - key},
                              row.position - key,
                              op_.softcap,
                              slope_of(row),
                              task_.distance_bias ? fill_bias(bias, key, row) : nullptr};
      if (!view.plain()) bend<A>(view, scores + r * score_stride);
    }
    weigh<A, rows>(scores, scratch_.largest + begin, scratch_.weight + begin, scratch_.factors + begin);
    if (!source_.values_as_pairs()) return;
    for (int r = 0; r < rows; ++r) round_in_place(scores + r * score_stride, block_keys);
  }

  float slope_of(const AttentionRow& row) const noexcept {
    return op_.slopes ? static_cast<const float*>(op_.slopes->data)[row.head] : 0;
  }
  const float* fill_bias(float* bias, std::int64_t key, const AttentionRow& row) const noexcept {
    const std::int64_t heads = std::int64_t{task_.heads} * task_.queries_per_head;
    for (int i = 0; i < block_keys; ++i) {
      const std::int64_t distance = std::clamp<std::int64_t>(key + i - row.position, -far_away, far_away);
      bias[i] = task_.distance_bias[(distance + far_away) * heads + row.head];
    }
    return bias;
  }

  void write() const noexcept {
    const Rows y(*op_.y);
    const std::int64_t heads = std::int64_t{task_.heads} * task_.queries_per_head;
    const auto* sinks = op_.sinks ? static_cast<const float*>(op_.sinks->data) : nullptr;
    for (int r = 0; r < rows_; ++r) {
      const AttentionRow& row = scratch_.rows[r];
      finish<A>(whole(r), sinks ? sinks + row.head : nullptr, y[row.token * heads + row.head], task_.value_dims);
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
