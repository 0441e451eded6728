// The work of one attention operation, cut into pieces.
#pragma once

#include <atomic>
#include <cstdint>

#include "cpu/cache.hpp"
#include "cpu/rotations.hpp"

namespace inlay::cpu {

inline constexpr int block_keys = 64, part_keys = 512;  // both are part of the operation's meaning
inline constexpr int score_stride = block_keys + 8;     // so that one key's scores for some rows spread over the banks

// Keys [begin, end) by position, or by number in the list of those that were chosen for a query; what one query sees is
// always such a run.
struct KeyRange {
  std::int64_t begin, end;
};

// Some of a sequence's queries, for each head of keys and values. A row is a token and one of the query heads that
// share that head: row = token * (H / G) + head within the group.
struct QueryTile {
  int sequence;
  std::int64_t first_row, end_row;
  KeyRange parts;                      // numbers of the parts of 512 keys that these queries see
  float* partial;                      // [G, parts, rows * (value stride + 2)] if workers take single parts; else null
  std::atomic<std::int32_t>* arrived;  // [G] parts done
};

// Parts [begin, end) of a tile.
struct AttentionUnit {
  const QueryTile* tile;
  KeyRange parts;
};

struct AttentionTask {
  const inlay_attention_op* op;
  VectorLayout keys, values;            // of the cache
  const Turn *query_turns, *key_turns;  // null: not rotated on the way
  const float* distance_bias;           // [2 * far_away + 1, H] T5's bias for key - query, from -far_away on; or null
  const AttentionUnit* units;
  int heads, queries_per_head;             // G and H / G
  int key_dims, value_dims, value_stride;  // the last one is a multiple of 16
  int most_rows;                           // of a tile
  bool stores;                             // attend stores this step's keys and values on the way
};

// Tokens [first, end) of the step, of one sequence, for which keys are chosen together.
struct ChoosingUnit {
  int sequence;
  std::int64_t first, end;
};

struct ChoosingTask {
  const inlay_choose_op* op;
  AttentionTask scoring;  // of the queries that choose with the keys they choose by
  const ChoosingUnit* units;
  std::int64_t most_runs;  // of a sequence
};

inline constexpr int far_away = 128;  // T5's buckets do not tell greater distances apart

namespace {  // also compiled for each instruction set

// The tokens of one sequence of the step.
struct SequenceView {
  std::int64_t first, end;        // in the step
  std::int64_t length;            // keys, this step's included
  const std::int32_t* pages;      // null without a cache
  std::int64_t trunk, trunk_end;  // tokens of another sequence in the step that come before its own; none: 0, 0

  std::int64_t position(std::int64_t token) const noexcept { return length - (end - token); }
  std::int64_t first_stored() const noexcept { return position(first) - (trunk_end - trunk); }

  // Calls use(token, position) for those of this step's tokens in [from, to) whose keys and values it keeps.
  template <class Use>
  void each_stored(std::int64_t from, std::int64_t to, Use use) const noexcept {
    const auto run = [&](std::int64_t begin, std::int64_t stop, std::int64_t at) {
      for (auto token = begin < from ? from : begin; token < stop && token < to; ++token)
        use(token, at + token - begin);
    };
    run(trunk, trunk_end, first_stored());
    run(first, end, position(first));
  }
};

// A query of a tile.
struct AttentionRow {
  std::int64_t token, head, position;  // in the step, among H, in its sequence
  KeyRange seen;
};

// One worker's memory.
struct AttentionScratch {
  AttentionRow* rows;
  float* queries;                              // scaled, by groups of rows: [groups][key_dims][rows of the group]
  float* scores;                               // [rows][score_stride], then the weights of the keys
  float* factors;                              // [rows], of all earlier weights
  float *sums, *largest, *weight;              // of the part at hand: [rows][value_stride], [rows], [rows]
  float *all_sums, *all_largest, *all_weight;  // of the parts so far
  float* key_panel;                            // [4 tiles][key_dims][16]
  float* value_panel;                          // [value_stride / 16][64 keys][16]
  float* vector;                               // one key, query or value
  std::size_t bytes;

  AttentionScratch(const AttentionTask& task, std::byte* memory) noexcept {
    std::size_t used = 0;
    const auto take = [&](std::int64_t floats) {
      auto* place = reinterpret_cast<float*>(memory ? memory + used : nullptr);  // null while measured
      used += static_cast<std::size_t>(floats + 15) / 16 * 16 * sizeof(float);
      return place;
    };
    const std::int64_t count = task.most_rows, keys = task.key_dims, values = task.value_stride;
    rows =
        reinterpret_cast<AttentionRow*>(take(count * static_cast<std::int64_t>(sizeof(AttentionRow) / sizeof(float))));
    queries = take(count * keys);
    scores = take(count * score_stride), factors = take(count);
    sums = take(count * values), largest = take(count), weight = take(count);
    all_sums = take(count * values), all_largest = take(count), all_weight = take(count);
    key_panel = take(block_keys * keys);
    value_panel = take(block_keys * values);
    vector = take(keys > values ? keys : values);
    bytes = used;
  }
};

// The same where keys are chosen.
struct ChoosingScratch {
  AttentionScratch scoring;
  float* runs;          // [tokens * lists][most_runs] the best score in each run of keys
  std::int32_t* order;  // [most_runs]
  std::size_t bytes;

  ChoosingScratch(const ChoosingTask& task, std::byte* memory) noexcept : scoring(task.scoring, memory) {
    const std::int64_t lists = task.scoring.most_rows / (task.op->weight ? task.op->q->shape[1] : 1);
    runs = reinterpret_cast<float*>(memory ? memory + scoring.bytes : nullptr);
    order = reinterpret_cast<std::int32_t*>(runs ? runs + lists * task.most_runs : nullptr);
    bytes = scoring.bytes + static_cast<std::size_t>((lists + 1) * task.most_runs) * sizeof(float);
  }
};

[[maybe_unused]] inline SequenceView view_of(const inlay_batch& batch, const inlay_attention_op& op,
                                             int sequence) noexcept {
  const std::int64_t first = batch.query_start[sequence], end = batch.query_start[sequence + 1];
  if (!op.cache) return {first, end, end - first, nullptr, 0, 0};
  const inlay_page_table& table = batch.table[op.cache->table];
  const std::int32_t trunk = batch.trunk ? batch.trunk[sequence] : -1;
  const std::int64_t shared = trunk < 0 ? 0 : batch.query_start[trunk];
  return {first,
          end,
          table.length[sequence],
          table.page_ids + table.page_start[sequence],
          shared,
          trunk < 0 ? 0 : shared + batch.shared[sequence]};
}

// The keys that a query at `position` sees among `length`.
[[maybe_unused]] inline KeyRange visible_keys(const inlay_attention_op& op, std::int64_t position,
                                              std::int64_t length) noexcept {
  const std::int64_t window = op.window;
  const auto clip = [length](std::int64_t begin, std::int64_t end) -> KeyRange {
    return {begin < 0 ? 0 : begin, end > length ? length : end};
  };
  switch (op.mask) {
    case INLAY_MASK_ALL: return {0, length};
    case INLAY_MASK_SLIDING: return clip(position - window + 1, position + 1);
    case INLAY_MASK_CHUNKED: return clip(position / window * window, position + 1);
    case INLAY_MASK_SYMMETRIC: return clip(position - window / 2, position + window / 2 + 1);
    default: return clip(0, position + 1);
  }
}

// Whether each query of a sequence reads a list of keys of its own.
[[maybe_unused]] inline bool reads_chosen(const inlay_attention_op& op, const SequenceView& sequence) noexcept {
  return op.choice && sequence.length > op.choice->shape[2];
}

// The keys that a token's queries see: by position, or by number in its list. All runs but the last are whole.
[[maybe_unused]] inline KeyRange keys_seen(const inlay_attention_op& op, const SequenceView& sequence,
                                           std::int64_t token) noexcept {
  const std::int64_t position = sequence.position(token);
  if (!reads_chosen(op, sequence)) return visible_keys(op, position, sequence.length);
  const std::int64_t most = op.choice->shape[2], run = op.chosen_run;
  return {0, position < most ? position + 1 : most - run + position % run + 1};
}

// The list of keys that were chosen for a token and a head of keys, or null where all are read.
[[maybe_unused]] inline const std::int32_t* chosen_for(const inlay_attention_op& op, const SequenceView& sequence,
                                                       std::int64_t token, int head) noexcept {
  if (!reads_chosen(op, sequence)) return nullptr;
  const inlay_tensor& lists = *op.choice;
  const auto* list = static_cast<const std::byte*>(lists.data) + token * lists.stride[0];
  return reinterpret_cast<const std::int32_t*>(list + (lists.shape[1] > 1 ? head * lists.stride[1] : 0));
}

}  // namespace
}  // namespace inlay::cpu
