// Cuts attention into tiles of queries and parts of keys, so that all workers have some.
#include "cpu/attention.hpp"

#include <algorithm>
#include <cmath>

#include "cpu/plan.hpp"

namespace inlay::cpu {
namespace {

bool is_f32(const inlay_tensor* tensor, std::uint32_t rank) noexcept {
  return tensor && tensor->type == INLAY_F32 && tensor->rank == rank;
}
bool is_f32_or_absent(const inlay_tensor* tensor, std::uint32_t rank) noexcept {
  return !tensor || is_f32(tensor, rank);
}

bool can_turn(const inlay_rope_op* rope, std::int64_t dims) noexcept {
  return !rope || (rope->dims >= 0 && rope->dims % 2 == 0 && rope->dims <= dims && is_f32(rope->frequencies, 1));
}

// Rows that are worth widening a block of keys and values for, and whose sums stay in the second-level cache.
std::int64_t rows_of_a_tile(const AttentionTask& task) noexcept {
  const int dims = task.key_dims + task.value_stride;
  return dims <= 128 ? 192 : dims <= 256 ? 96 : 48;
}

// T5: distances below half of the buckets have one each; longer ones share buckets that widen up to 128.
std::int64_t bucket_of(std::int64_t buckets, bool both_ways, std::int64_t distance) noexcept {
  std::int64_t start = 0, away = std::max<std::int64_t>(-distance, 0);
  if (both_ways) {
    buckets /= 2;
    start = distance > 0 ? buckets : 0;
    away = std::abs(distance);
  }
  const std::int64_t exact = buckets / 2;
  if (away < exact) return start + away;
  const double share = std::log2(static_cast<double>(away) / static_cast<double>(exact)) /
                       std::log2(static_cast<double>(far_away) / static_cast<double>(exact));
  return start + std::min(buckets - 1, exact + static_cast<std::int64_t>(share * static_cast<double>(buckets - exact)));
}

const float* distance_bias(Plan& plan, const inlay_attention_op& op) {
  if (!op.bias || !op.bias->data) return nullptr;
  const std::int64_t buckets = op.bias->shape[0], heads = op.bias->shape[1];
  const bool both_ways = op.mask == INLAY_MASK_ALL || op.mask == INLAY_MASK_SYMMETRIC;
  auto* table = plan.kept<float>(static_cast<std::size_t>((2 * far_away + 1) * heads));
  for (std::int64_t distance = -far_away; distance <= far_away; ++distance) {
    const auto* row =
        static_cast<const std::byte*>(op.bias->data) + bucket_of(buckets, both_ways, distance) * op.bias->stride[0];
    std::copy_n(reinterpret_cast<const float*>(row), heads, table + (distance + far_away) * heads);
  }
  return table;
}

AttentionTask describe(Plan& plan, const inlay_attention_op& op) {
  AttentionTask task = {};
  task.op = &op;
  if (op.cache) {
    task.keys = key_layout(*op.cache);
    task.values = value_layout(*op.cache);
  }
  task.query_turns = op.rope_q ? rotations(plan, *op.rope_q) : nullptr;
  task.key_turns = op.rope_k ? rotations(plan, *op.rope_k) : nullptr;
  task.distance_bias = distance_bias(plan, op);
  task.heads = op.cache ? op.cache->heads : static_cast<int>(op.k->shape[1]);
  task.queries_per_head = op.q ? static_cast<int>(op.q->shape[1]) / task.heads : 0;
  task.key_dims = static_cast<int>(op.q ? op.q->shape[2] : op.k->shape[2]);
  task.value_dims = op.y ? static_cast<int>(op.y->shape[2]) : 0;
  task.value_stride = (task.value_dims + tile_keys - 1) / tile_keys * tile_keys;
  return task;
}

// Where each token has a list of keys of its own, no tile has rows of two.
std::int64_t tiles_of(const AttentionTask& task, const SequenceView& sequence) noexcept {
  const std::int64_t tokens = sequence.end - sequence.first, most = rows_of_a_tile(task);
  if (reads_chosen(*task.op, sequence)) return tokens * ((task.queries_per_head + most - 1) / most);
  return (tokens * task.queries_per_head + most - 1) / most;
}

QueryTile tile_of(const AttentionTask& task, const SequenceView& sequence, int index, std::int64_t tile,
                  std::int64_t tiles) noexcept {
  const std::int64_t group = task.queries_per_head, rows = (sequence.end - sequence.first) * group;
  QueryTile made = {index, rows * tile / tiles, rows * (tile + 1) / tiles, {}, nullptr, nullptr};
  const auto seen_by = [&](std::int64_t row) { return keys_seen(*task.op, sequence, sequence.first + row / group); };
  made.parts = {seen_by(made.first_row).begin / part_keys, (seen_by(made.end_row - 1).end + part_keys - 1) / part_keys};
  return made;
}

struct Size {
  std::int64_t tiles, parts;
};

Size size_of(const Plan& plan, AttentionTask& task) noexcept {
  Size size = {0, 0};
  task.stores = task.op->cache && task.op->k && !task.op->choice;
  for (int s = 0; s < plan.batch().seqs; ++s) {
    const SequenceView sequence = view_of(plan.batch(), *task.op, s);
    const std::int64_t tiles = tiles_of(task, sequence);
    for (std::int64_t t = 0; t < tiles; ++t) {
      const QueryTile tile = tile_of(task, sequence, s, t, tiles);
      task.most_rows = std::max(task.most_rows, static_cast<int>(tile.end_row - tile.first_row));
      size.parts += tile.parts.end - tile.parts.begin;
      // Else nobody would store what a window has left behind.
      task.stores = task.stores && sequence.first_stored() / part_keys >= tile.parts.begin;
    }
    size.tiles += tiles;
    task.stores = task.stores && tiles <= 1;  // else a tile may need keys that another one would store
  }
  return size;
}

// Without queries an operation only stores.
bool can_store(const inlay_attention_op& op) noexcept {
  return !op.y && op.cache && can_cache(*op.cache) && op.cache->kind == INLAY_CACHE_KV && is_f32(op.k, 3) &&
         is_f32(op.v, 3) && op.k->shape[1] == op.cache->heads && op.k->shape[2] == op.cache->k_dim &&
         op.v->shape[2] == op.cache->v_dim && can_turn(op.rope_k, op.cache->k_dim);
}

// Lists of keys go with a plain causal mask only.
bool can_read_chosen(const inlay_attention_op& op) noexcept {
  if (!op.choice) return true;
  const inlay_tensor& lists = *op.choice;
  return op.cache && lists.type == INLAY_I32 && lists.rank == 3 && op.mask == INLAY_MASK_CAUSAL && !op.slopes &&
         !op.bias && (lists.shape[1] == 1 || lists.shape[1] == op.cache->heads) && op.chosen_run >= 1 &&
         lists.shape[2] % op.chosen_run == 0;
}

void plan_store(Plan& plan, const AttentionTask* task, std::size_t scratch) {
  constexpr int tokens_of_a_chunk = 16;
  plan.phase(plan.kernels().attention.store, task, (plan.batch().tokens + tokens_of_a_chunk - 1) / tokens_of_a_chunk,
             scratch);
}

}  // namespace

bool can(const Kernels&, const inlay_attention_op& op) noexcept {
  if (!op.q) return can_store(op);
  if (!can_read_chosen(op)) return false;
  if (!is_f32(op.y, 3) || !is_f32(op.q, 3) || !is_f32_or_absent(op.k, 3) || !is_f32_or_absent(op.v, 3)) return false;
  if (!is_f32_or_absent(op.sinks, 1) || !is_f32_or_absent(op.slopes, 1) || !is_f32_or_absent(op.bias, 2)) return false;
  if (!op.cache && (!op.k || !op.v)) return false;
  const std::int64_t heads = op.cache ? op.cache->heads : op.k->shape[1], dims = op.q->shape[2];
  if (op.cache && (!can_cache(*op.cache) || op.cache->kind == INLAY_CACHE_STATE || op.cache->k_dim != dims))
    return false;
  if (op.cache && op.cache->v_dim != op.y->shape[2]) return false;
  const bool windowed =
      op.mask == INLAY_MASK_SLIDING || op.mask == INLAY_MASK_CHUNKED || op.mask == INLAY_MASK_SYMMETRIC;
  return heads > 0 && op.q->shape[1] % heads == 0 && can_turn(op.rope_q, dims) && can_turn(op.rope_k, dims) &&
         op.mask <= INLAY_MASK_SYMMETRIC && (!windowed || op.window > 0);
}

void plan(Plan& plan, const inlay_attention_op& op) {
  AttentionTask task = describe(plan, op);
  if (!op.q) return plan_store(plan, plan.task(task), AttentionScratch(task, nullptr).bytes);
  const Size size = size_of(plan, task);
  if (size.tiles == 0) return;
  const bool by_parts = plan.workers() > 1 && size.parts > size.tiles && size.tiles * task.heads < 4 * plan.workers();
  auto* tiles = plan.kept<QueryTile>(static_cast<std::size_t>(size.tiles));
  auto* units = plan.kept<AttentionUnit>(static_cast<std::size_t>(by_parts ? size.parts : size.tiles));
  task.units = units;
  for (int s = 0; s < plan.batch().seqs; ++s) {
    const SequenceView sequence = view_of(plan.batch(), op, s);
    const std::int64_t count = tiles_of(task, sequence);
    for (std::int64_t t = 0; t < count; ++t) {
      QueryTile& tile = *tiles++ = tile_of(task, sequence, s, t, count);
      const std::int64_t parts = tile.parts.end - tile.parts.begin, rows = tile.end_row - tile.first_row;
      if (!by_parts || parts == 1) {
        *units++ = {&tile, tile.parts};
        continue;
      }
      tile.partial = plan.shared<float>(static_cast<std::size_t>(task.heads * parts * rows * (task.value_stride + 2)));
      tile.arrived = plan.arrivals(static_cast<std::size_t>(task.heads));
      for (auto part = tile.parts.begin; part < tile.parts.end; ++part) *units++ = {&tile, {part, part + 1}};
    }
  }
  const auto* made = plan.task(task);
  const std::size_t scratch = AttentionScratch(task, nullptr).bytes;
  if (op.cache && op.k && !task.stores) plan_store(plan, made, scratch);
  plan.phase(plan.kernels().attention.attend, made, (units - task.units) * task.heads, scratch);
}

}  // namespace inlay::cpu
