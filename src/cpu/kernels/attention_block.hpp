// Finds the keys and values of a block: in the cache as they lie, or widened to floats in a panel of the worker's own.
#pragma once

#include <algorithm>
#include <bit>

#include "cpu/kernels/attention_codes.hpp"
#include "cpu/kernels/attention_tile.hpp"
#include "cpu/kernels/vectors.hpp"

namespace inlay::cpu {
namespace {

// Where one head's keys and values of one sequence are found.
template <class A>
class KeySource {
 public:
  // `reuse`: how many rows will be multiplied with each block, so whether widening it first pays. `exact`: nothing is
  // multiplied in pairs. With a list of chosen keys, positions are numbers in it.
  KeySource(const AttentionTask& task, const SequenceView& sequence, int head, const AttentionScratch& scratch,
            int reuse, bool exact, const std::int32_t* chosen) noexcept
      : task_(task),
        sequence_(sequence),
        head_(head),
        scratch_(scratch),
        chosen_(chosen),
        keys_as_pairs_(!exact && sequence.pages && as_pairs<A>(task.keys.type)),
        values_as_pairs_(!exact && sequence.pages && as_pairs<A>(task.values.type)) {
    const bool widens = reuse > 2 * group_rows<A>;
    const auto direct = [&](std::uint32_t type) {
      if (as_pairs<A>(type)) return !exact;
      return type == INLAY_F32 || (!widens && (type == INLAY_F16 || type == INLAY_BF16));
    };
    const bool whole = task.value_dims == task.value_stride;
    keys_in_place_ = !chosen && sequence.pages && task.keys.tiled && direct(task.keys.type);
    values_in_place_ = !chosen && whole &&
                       (!sequence.pages || (direct(task.values.type) && task.op->cache->page_size % tile_keys == 0));
  }

  // What is multiplied by queries and weights in pairs of bfloat16.
  bool keys_as_pairs() const noexcept { return keys_as_pairs_; }
  bool values_as_pairs() const noexcept { return values_as_pairs_; }

  // Nothing is widened, so blocks can be found ahead of their use.
  bool in_place() const noexcept { return keys_in_place_ && values_in_place_; }

  // The tiles of the block that begins at position `first`; only keys in `wanted` are touched.
  void find(std::int64_t first, KeyRange wanted, Block& block) const noexcept {
    for (int t = 0; t < block_keys / tile_keys; ++t) {
      const std::int64_t position = first + t * tile_keys;
      Tile& tile = block.tiles[t];
      tile.begin = static_cast<int>(std::clamp<std::int64_t>(wanted.begin - position, 0, tile_keys));
      tile.end = static_cast<int>(std::clamp<std::int64_t>(wanted.end - position, tile.begin, tile_keys));
      if (tile.begin == tile.end) continue;
      keys_in_place_ ? point_to_keys(position, tile) : widen_keys(position, t, tile);
      values_in_place_ ? point_to_values(position, tile) : widen_values(position, t, tile);
      tile.next_keys = tile.keys;
      tile.next_values = tile.values;
    }
  }

  // Asks for the memory of the block that begins at position `first`, to have it when it is to be widened.
  void fetch(std::int64_t first, KeyRange wanted) const noexcept {
    if (!sequence_.pages || chosen_ || task_.op->cache->page_size % tile_keys != 0) return;
    const std::int64_t begin = std::max(first, wanted.begin) / tile_keys * tile_keys;
    const std::int64_t end = std::min(first + block_keys, wanted.end);
    for (std::int64_t position = begin; position < end; position += tile_keys) {
      fetch_bytes(place_of(task_.keys, position), tile_keys * task_.keys.row_bytes);
      if (task_.op->cache->kind == INLAY_CACHE_KV) {
        fetch_bytes(place_of(task_.values, position), tile_keys * task_.values.row_bytes);
      }
    }
  }

  static void link(Block& block, const Block& next) noexcept {
    for (int t = 0; t < block_keys / tile_keys; ++t) {
      if (next.tiles[t].begin == next.tiles[t].end) continue;
      block.tiles[t].next_keys = next.tiles[t].keys;
      block.tiles[t].next_values = next.tiles[t].values;
    }
  }

 private:
  static constexpr int lanes = static_cast<int>(Floats<A>::size);

  static void fetch_bytes(const std::byte* place, std::int64_t bytes) noexcept {
    constexpr std::int64_t line = 64;
    for (std::int64_t i = 0; i < bytes; i += line) __builtin_prefetch(place + i);
  }

  std::int64_t at(std::int64_t number) const noexcept { return chosen_ ? chosen_[number] : number; }
  std::byte* head_of(const VectorLayout& layout, std::int64_t position) const noexcept {
    const inlay_cache& cache = *task_.op->cache;
    return page_address(cache, sequence_.pages[position / cache.page_size]) + layout.offset + head_ * layout.head_bytes;
  }
  std::int64_t row_of(std::int64_t position) const noexcept { return position % task_.op->cache->page_size; }
  const std::byte* place_of(const VectorLayout& layout, std::int64_t position) const noexcept {
    return head_of(layout, position) + row_of(position) * layout.row_bytes;
  }
  const float* step_vector(const inlay_tensor& tensor, std::int64_t position) const noexcept {
    return Rows(tensor)[(sequence_.first + position) * task_.heads + head_];
  }

  void point_to_keys(std::int64_t position, Tile& tile) const noexcept {
    tile.key_type = task_.keys.type;
    tile.keys = place_of(task_.keys, position);
  }

  void point_to_values(std::int64_t position, Tile& tile) const noexcept {
    const inlay_attention_op& op = *task_.op;
    tile.value_type = sequence_.pages ? task_.values.type : std::uint32_t{INLAY_F32};
    tile.value_step = sequence_.pages ? task_.values.row_bytes : op.v->stride[0];
    tile.value_chunk = tile_keys * (tile.value_type == INLAY_F32 ? 4 : 2);
    tile.values = sequence_.pages ? place_of(task_.values, position)
                                  : reinterpret_cast<const std::byte*>(step_vector(*op.v, position));
  }

  // Numbers [0, n) of a float type, n a multiple of 16, to steps of 16 that are `step` apart.
  static void widen(std::uint32_t type, const std::byte* from, float* to, std::int64_t n, std::int64_t step) noexcept {
    with_type<A>(type, [&](auto load, auto size) {
      for (std::int64_t i = 0; i < n; i += tile_keys, to += step) {
        unroll<vectors<A>>([&](auto v) { load(from + (i + v * lanes) * size).store_unaligned(to + v * lanes); });
      }
    });
  }

  static bool is_float(std::uint32_t type) noexcept {
    return type == INLAY_F32 || type == INLAY_F16 || type == INLAY_BF16;
  }

  // Puts a number into a panel of floats, or of bfloat16 where it is one already.
  static void put(float* panel, bool as_pairs, std::int64_t place, float number) noexcept {
    if (!as_pairs) return void(panel[place] = number);
    reinterpret_cast<std::uint16_t*>(panel)[place] =
        static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(number) >> 16);
  }

  void widen_keys(std::int64_t position, int t, Tile& tile) const noexcept {
    float* panel = scratch_.key_panel + std::int64_t{t} * tile_keys * task_.key_dims;
    tile.key_type = keys_as_pairs_ ? INLAY_BF16 : INLAY_F32;
    tile.keys = reinterpret_cast<const std::byte*>(panel);
    if (sequence_.pages && task_.keys.tiled && !chosen_) {
      const std::byte* place = place_of(task_.keys, position);
      if (is_float(task_.keys.type))
        return widen(task_.keys.type, place, panel, std::int64_t{tile_keys} * task_.key_dims, tile_keys);
      return widen_coded_keys<A>(task_.keys.type, place, task_.key_dims, panel);
    }
    for (int i = tile.begin; i < tile.end; ++i) {
      const float* vector = key(at(position + i));
      for (int d = 0; d < task_.key_dims; ++d) put(panel, keys_as_pairs_, d * tile_keys + i, vector[d]);
    }
  }

  const float* key(std::int64_t position) const noexcept {
    if (sequence_.pages) {
      read_vector(task_.keys, head_of(task_.keys, position), row_of(position), scratch_.vector);
      return scratch_.vector;
    }
    const float* vector = step_vector(*task_.op->k, position);
    if (!task_.key_turns) return vector;
    const inlay_rope_op& rope = *task_.op->rope_k;
    std::copy_n(vector, task_.key_dims, scratch_.vector);
    rotate_head(rope, task_.key_turns + (sequence_.first + position) * (rope.dims / 2), vector, scratch_.vector);
    return scratch_.vector;
  }

  void widen_values(std::int64_t position, int t, Tile& tile) const noexcept {
    float* panel = scratch_.value_panel;
    constexpr int chunk = block_keys * tile_keys;
    const int bytes = values_as_pairs_ ? 2 : 4, first = t * tile_keys * tile_keys;
    tile.value_type = values_as_pairs_ ? INLAY_BF16 : INLAY_F32;
    tile.value_step = tile_keys * bytes;
    tile.value_chunk = chunk * bytes;
    tile.values = reinterpret_cast<const std::byte*>(panel) + first * bytes;
    const bool simple = sequence_.pages && task_.value_dims == task_.value_stride && !values_as_pairs_;
    for (int i = tile.begin; i < tile.end; ++i) {
      const std::int64_t row = first + i * tile_keys;
      if (simple) {
        float* to = panel + row;
        const std::byte* place = place_of(task_.values, at(position + i));
        if (is_float(task_.values.type))
          widen(task_.values.type, place, to, task_.value_dims, chunk);
        else
          widen_coded_value<A>(task_.values.type, place, task_.value_dims, to, chunk);
        continue;
      }
      const float* vector = value(at(position + i));
      for (int d = 0; d < task_.value_dims; ++d)
        put(panel, values_as_pairs_, row + d / tile_keys * chunk + d % tile_keys, vector[d]);
    }
  }

  const float* value(std::int64_t position) const noexcept {
    if (!sequence_.pages) return step_vector(*task_.op->v, position);
    read_vector(task_.values, head_of(task_.values, position), row_of(position), scratch_.vector);
    return scratch_.vector;
  }

  const AttentionTask& task_;
  const SequenceView& sequence_;
  int head_;
  const AttentionScratch& scratch_;
  const std::int32_t* chosen_;
  bool keys_as_pairs_, values_as_pairs_;
  bool keys_in_place_, values_in_place_;
};

}  // namespace
}  // namespace inlay::cpu
