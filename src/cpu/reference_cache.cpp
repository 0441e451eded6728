// Where the reference keeps keys, values and states.
#include "cpu/reference_cache.hpp"

#include "cpu/cache.hpp"

namespace inlay::cpu::reference {
namespace {

// One vector, row by row: the kernels' tiles are what this is compared with.
VectorLayout layout_of(const inlay_cache& cache, Half half) noexcept {
  VectorLayout layout = half == keys ? key_layout(cache) : value_layout(cache);
  layout.tiled = false;
  return layout;
}

std::byte* vector_address(const inlay_cache& cache, const VectorLayout& layout, std::int64_t slot, int head) noexcept {
  const std::int64_t vector = slot % cache.page_size * cache.heads + head;
  return page_address(cache, slot / cache.page_size) + layout.offset + vector * layout.row_bytes;
}

}  // namespace

std::size_t page_bytes(const inlay_cache& cache, int which) noexcept {
  if (cache.kind == INLAY_CACHE_STATE) return which == 0 ? static_cast<std::size_t>(cache.state_bytes) : 0;
  if (cache.kind == INLAY_CACHE_LATENT && which == values) return 0;
  const VectorLayout layout = layout_of(cache, which == keys ? keys : values);
  return static_cast<std::size_t>(layout.row_bytes * cache.heads * cache.page_size);
}

void store(const inlay_cache& cache, Half half, std::int64_t slot, int head, const float* vector) noexcept {
  const VectorLayout layout = layout_of(cache, half);
  write_vector(layout, vector_address(cache, layout, slot, head), 0, vector);
}

void load(const inlay_cache& cache, Half half, std::int64_t slot, int head, float* vector) noexcept {
  const VectorLayout layout = layout_of(cache, half);
  read_vector(layout, vector_address(cache, layout, slot, head), 0, vector);
}

}  // namespace inlay::cpu::reference
