// How keys and values lie in the pages of a pool: [head][row] vectors, each in the form of its type. Keys of one head
// stand in tiles of 16, value by value: [dimension][16 keys], so that 16 scores are computed side by side. Where that
// is impossible (a page of other than a multiple of 16 rows, or a latent cache, whose keys are values too) they stand
// row by row, as values always do.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inlay/backend.h"

namespace inlay::cpu {

inline constexpr int tile_keys = 16;

// Where the vectors of one half of a cache, its keys or its values, lie in a page.
struct VectorLayout {
  std::uint32_t type;
  int dims;
  bool tiled;
  std::int64_t offset;      // from the page to its first head
  std::int64_t row_bytes;   // of one vector; 16 times that is a tile
  std::int64_t head_bytes;  // from one head to the next
};
VectorLayout key_layout(const inlay_cache& cache) noexcept;
VectorLayout value_layout(const inlay_cache& cache) noexcept;

bool can_cache(const inlay_cache& cache) noexcept;

// One vector of the head that begins at `head`, to and from floats.
void write_vector(const VectorLayout& layout, std::byte* head, std::int64_t row, const float* x) noexcept;
void read_vector(const VectorLayout& layout, const std::byte* head, std::int64_t row, float* x) noexcept;

// What the functions of the same names in inlay_backend promise.
std::size_t cache_bytes(const inlay_cache& cache, int which) noexcept;
void read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k, float* v) noexcept;
void write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k, const float* v) noexcept;

namespace {  // also compiled for each instruction set

[[maybe_unused]] inline std::byte* page_address(const inlay_cache& cache, std::int64_t page) noexcept {
  return static_cast<std::byte*>(cache.segments[page / cache.segment_pages]) +
         page % cache.segment_pages * cache.page_stride;
}

// Where a layer's recurrent state begins: floats, in every backend's order.
[[maybe_unused]] inline float* state_address(const inlay_cache& cache, std::int64_t slot) noexcept {
  return reinterpret_cast<float*>(page_address(cache, slot) + cache.k_offset);
}

}  // namespace
}  // namespace inlay::cpu
