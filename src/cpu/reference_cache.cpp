// Where the reference keeps keys, values and states, and how it rounds them to the cache's type.
#include "cpu/reference_cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "gguf/blocks.hpp"

namespace inlay::cpu::reference {
namespace {

std::byte* page_address(const inlay_cache& cache, std::int64_t page) noexcept {
  return static_cast<std::byte*>(cache.segments[page / cache.segment_pages]) +
         page % cache.segment_pages * cache.page_stride;
}

std::byte* vector_address(const inlay_cache& cache, Half half, std::int64_t slot, int head) noexcept {
  const bool is_key = half == keys || cache.kind == INLAY_CACHE_LATENT;
  const std::size_t bytes = is_key ? row_bytes(cache.k_type, cache.k_dim) : row_bytes(cache.v_type, cache.v_dim);
  const std::int64_t row = slot % cache.page_size * cache.heads + head;
  return page_address(cache, slot / cache.page_size) + (is_key ? cache.k_offset : cache.v_offset) +
         row * static_cast<std::int64_t>(bytes);
}

// scale * code, the scale the largest magnitude / 127
gguf::BlockQ8_0 round_to_8_bits(const float* x) noexcept {
  gguf::BlockQ8_0 block = {};
  float largest = 0;
  for (int i = 0; i < 32; ++i) largest = std::max(largest, std::abs(x[i]));
  const float inverse = largest == 0 ? 0 : 127.0f / largest;
  if (!std::isfinite(inverse)) return block;
  block.scale = base::float_to_half(largest / 127.0f);
  for (int i = 0; i < 32; ++i) block.codes[i] = static_cast<std::int8_t>(std::nearbyint(x[i] * inverse));
  return block;
}

// scale * (code - 8), the scale such that the value of largest magnitude gets code 0
gguf::BlockQ4_0 round_to_4_bits(const float* x) noexcept {
  gguf::BlockQ4_0 block = {};
  float extreme = 0;
  for (int i = 0; i < 32; ++i) extreme = std::abs(x[i]) > std::abs(extreme) ? x[i] : extreme;
  const float inverse = extreme == 0 ? 0 : -8.0f / extreme;
  block.scale = base::float_to_half(extreme / -8.0f);
  const auto code = [&](float value) {
    return std::isfinite(inverse) ? std::clamp(static_cast<int>(std::nearbyint(value * inverse)) + 8, 0, 15) : 8;
  };
  for (int i = 0; i < 16; ++i) block.codes[i] = static_cast<std::uint8_t>(code(x[i]) | code(x[i + 16]) << 4);
  return block;
}

template <class Block>
void store_blocks(std::byte* target, const float* vector, std::int64_t count,
                  Block (*round)(const float*) noexcept) noexcept {
  for (std::int64_t i = 0; i < count; i += 32, target += sizeof(Block)) {
    const Block block = round(vector + i);
    std::memcpy(target, &block, sizeof block);
  }
}

}  // namespace

bool can_store(std::uint32_t type, std::int64_t count) noexcept {
  return is_float(type) || ((type == INLAY_Q8_0 || type == INLAY_Q4_0) && count % 32 == 0);
}

std::size_t page_bytes(const inlay_cache& cache, int which) noexcept {
  if (cache.kind == INLAY_CACHE_STATE) return which == 0 ? static_cast<std::size_t>(cache.state_bytes) : 0;
  if (cache.kind == INLAY_CACHE_LATENT && which == values) return 0;
  const std::size_t vector =
      which == keys ? row_bytes(cache.k_type, cache.k_dim) : row_bytes(cache.v_type, cache.v_dim);
  return vector * static_cast<std::size_t>(cache.heads) * static_cast<std::size_t>(cache.page_size);
}

void store(const inlay_cache& cache, Half half, std::int64_t slot, int head, const float* vector) noexcept {
  std::byte* target = vector_address(cache, half, slot, head);
  const std::int64_t count = half == keys ? cache.k_dim : cache.v_dim;
  const std::uint32_t type = half == keys ? cache.k_type : cache.v_type;
  if (type == INLAY_Q8_0) return store_blocks(target, vector, count, round_to_8_bits);
  if (type == INLAY_Q4_0) return store_blocks(target, vector, count, round_to_4_bits);
  if (type == INLAY_F32) {
    std::memcpy(target, vector, sizeof(float) * static_cast<std::size_t>(count));
    return;
  }
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint16_t rounded =
        type == INLAY_F16 ? base::float_to_half(vector[i]) : base::float_to_bfloat16(vector[i]);
    std::memcpy(target + 2 * i, &rounded, 2);
  }
}

void load(const inlay_cache& cache, Half half, std::int64_t slot, int head, float* vector) noexcept {
  const std::uint32_t type = half == values && cache.kind == INLAY_CACHE_KV ? cache.v_type : cache.k_type;
  widen(type, vector_address(cache, half, slot, head), vector, half == keys ? cache.k_dim : cache.v_dim);
}

float* state_of(const inlay_cache& cache, std::int64_t slot) noexcept {
  return reinterpret_cast<float*>(page_address(cache, slot) + cache.k_offset);
}

}  // namespace inlay::cpu::reference
