// Finds the keys and values of a block: in the cache as they lie, or widened to floats in a panel of the worker's own.
#pragma once

#include <algorithm>

#include "cpu/kernels/attention_tile.hpp"
#include "cpu/kernels/vectors.hpp"

namespace inlay::cpu {
namespace {

inline bool is_float(std::uint32_t type) noexcept { return type == INLAY_F32 || type == INLAY_F16 || type == INLAY_BF16; }

// Where one head's keys and values of one sequence are found.
template <class A>
class KeySource {
 public:
  // `reuse`: how many rows will be multiplied with each block, so whether widening it first pays.
  KeySource(const AttentionTask& task, const inlay_batch& batch, const SequenceView& sequence, int head,
            const AttentionScratch& scratch, int reuse) noexcept
      : task_(task), batch_(batch), sequence_(sequence), head_(head), scratch_(scratch), widen_(reuse > 2 * group_rows<A>) {}

  // The tiles of the block that begins at position `first`; only keys in `wanted` are touched.
  void find(std::int64_t first, KeyRange wanted, Block& block) const noexcept {
    for (int t = 0; t < block_keys / tile_keys; ++t) {
      const std::int64_t position = first + t * tile_keys;
      Tile& tile = block.tiles[t];
      tile.begin = static_cast<int>(std::clamp<std::int64_t>(wanted.begin - position, 0, tile_keys));
      tile.end = static_cast<int>(std::clamp<std::int64_t>(wanted.end - position, tile.begin, tile_keys));
      if (tile.begin == tile.end) continue;
      find_keys(position, t, tile);
      find_values(position, t, tile);
    }
  }

 private:
  std::byte* head_of(const VectorLayout& layout, std::int64_t position) const noexcept {
    const inlay_cache& cache = *task_.op->cache;
    return page_address(cache, sequence_.pages[position / cache.page_size]) + layout.offset + head_ * layout.head_bytes;
  }
  std::int64_t row_of(std::int64_t position) const noexcept { return position % task_.op->cache->page_size; }
  const float* step_vector(const inlay_tensor& tensor, std::int64_t position) const noexcept {
    return Rows(tensor)[(sequence_.first + position) * task_.heads + head_];
  }

  // Widens numbers [0, n) of a float type, n a multiple of 16.
  static void widen(std::uint32_t type, const std::byte* from, float* to, std::int64_t n) noexcept {
    with_type<A>(type, [&](auto load, auto size) {
      constexpr int lanes = static_cast<int>(Floats<A>::size);
      for (std::int64_t i = 0; i < n; i += lanes) load(from + i * size).store_unaligned(to + i);
    });
  }

  void find_keys(std::int64_t position, int t, Tile& tile) const noexcept {
    const VectorLayout& layout = task_.keys;
    float* panel = scratch_.key_panel + std::int64_t{t} * tile_keys * task_.key_dims;
    tile.key_type = INLAY_F32;
    tile.keys = reinterpret_cast<const std::byte*>(panel);
    if (sequence_.pages && layout.tiled && is_float(layout.type)) {
      const std::byte* place = head_of(layout, position) + row_of(position) * layout.row_bytes;
      if (layout.type != INLAY_F32 && widen_) return widen(layout.type, place, panel, std::int64_t{tile_keys} * task_.key_dims);
      tile.key_type = layout.type;
      tile.keys = place;
      return;
    }
    for (int i = tile.begin; i < tile.end; ++i) {
      const float* vector = key(position + i);
      for (int d = 0; d < task_.key_dims; ++d) panel[d * tile_keys + i] = vector[d];
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

  void find_values(std::int64_t position, int t, Tile& tile) const noexcept {
    const bool whole = task_.value_dims == task_.value_stride;
    float* panel = scratch_.value_panel + std::int64_t{t} * tile_keys * task_.value_stride;
    tile.value_type = INLAY_F32;
    tile.value_row = task_.value_stride * static_cast<std::int64_t>(sizeof(float));
    tile.values = reinterpret_cast<const std::byte*>(panel);
    if (!sequence_.pages) {
      if (whole) return take(tile, INLAY_F32, reinterpret_cast<const std::byte*>(step_vector(*task_.op->v, position)), task_.op->v->stride[0]);
      for (int i = tile.begin; i < tile.end; ++i) {
        std::copy_n(step_vector(*task_.op->v, position + i), task_.value_dims, panel + i * task_.value_stride);
      }
      return;
    }
    const VectorLayout& layout = task_.values;
    if (whole && is_float(layout.type) && task_.op->cache->page_size % tile_keys == 0) {
      const std::byte* place = head_of(layout, position) + row_of(position) * layout.row_bytes;
      if (layout.type == INLAY_F32 || !widen_) return take(tile, layout.type, place, layout.row_bytes);
      for (int i = tile.begin; i < tile.end; ++i) {
        widen(layout.type, place + i * layout.row_bytes, panel + i * task_.value_stride, task_.value_stride);
      }
      return;
    }
    for (int i = tile.begin; i < tile.end; ++i) {
      read_vector(layout, head_of(layout, position + i), row_of(position + i), panel + i * task_.value_stride);
    }
  }

  static void take(Tile& tile, std::uint32_t type, const std::byte* place, std::int64_t row) noexcept {
    tile.value_type = type;
    tile.values = place;
    tile.value_row = row;
  }

  const AttentionTask& task_;
  const inlay_batch& batch_;
  const SequenceView& sequence_;
  int head_;
  const AttentionScratch& scratch_;
  bool widen_;
};

}  // namespace
}  // namespace inlay::cpu
