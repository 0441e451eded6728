// Vectors of a cache's types, to and from floats, and to and from their places in pages.
#include "cpu/cache.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/half.hpp"
#include "gguf/blocks.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

constexpr int block = 32;  // values that share a scale

std::int64_t bytes_of(std::uint32_t type, int dims) noexcept {
  return static_cast<std::int64_t>(gguf::bytes_of(static_cast<gguf::Type>(type), static_cast<std::uint64_t>(dims)));
}

bool can_store(std::uint32_t type, int dims) noexcept {
  if (type == INLAY_Q8_0 || type == INLAY_Q4_0) return dims > 0 && dims % block == 0;
  return dims > 0 && (type == INLAY_F32 || type == INLAY_F16 || type == INLAY_BF16);
}

// ---- one number or block; a scale that is not finite stands for zeros

void encode(const float* x, gguf::BlockQ8_0& y) noexcept {
  float largest = 0;
  for (int i = 0; i < block; ++i) largest = std::max(largest, std::abs(x[i]));
  const float inverse = largest == 0 ? 0 : 127.0f / largest;
  y = {};
  if (!std::isfinite(inverse)) return;
  y.scale = base::float_to_half(largest / 127.0f);
  for (int i = 0; i < block; ++i) y.codes[i] = static_cast<std::int8_t>(std::nearbyint(x[i] * inverse));
}

void encode(const float* x, gguf::BlockQ4_0& y) noexcept {
  float extreme = 0;
  for (int i = 0; i < block; ++i) extreme = std::abs(x[i]) > std::abs(extreme) ? x[i] : extreme;
  const float inverse = extreme == 0 ? 0 : -8.0f / extreme;
  const bool usable = std::isfinite(inverse);
  const auto code = [&](float value) {
    return usable ? std::clamp(static_cast<int>(std::nearbyint(value * inverse)) + 8, 0, 15) : 8;
  };
  y = {};
  y.scale = base::float_to_half(usable ? extreme / -8.0f : 0);
  for (int i = 0; i < block / 2; ++i) y.codes[i] = static_cast<std::uint8_t>(code(x[i]) | code(x[i + block / 2]) << 4);
}

void decode(const gguf::BlockQ8_0& x, float* y) noexcept {
  const float scale = base::half_to_float(x.scale);
  for (int i = 0; i < block; ++i) y[i] = scale * static_cast<float>(x.codes[i]);
}

void decode(const gguf::BlockQ4_0& x, float* y) noexcept {
  const float scale = base::half_to_float(x.scale);
  for (int i = 0; i < block / 2; ++i) {
    y[i] = scale * static_cast<float>((x.codes[i] & 15) - 8);
    y[i + block / 2] = scale * static_cast<float>((x.codes[i] >> 4) - 8);
  }
}

struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
void encode(const float* x, Half& y) noexcept { y.bits = base::float_to_half(*x); }
void encode(const float* x, Brain& y) noexcept { y.bits = base::float_to_bfloat16(*x); }
void encode(const float* x, float& y) noexcept { y = *x; }
void decode(const Half& x, float* y) noexcept { *y = base::half_to_float(x.bits); }
void decode(const Brain& x, float* y) noexcept { *y = base::bfloat16_to_float(x.bits); }
void decode(const float& x, float* y) noexcept { *y = x; }

// Calls use with a value of the type's unit, and how many floats it stands for.
template <class Use>
void with_unit(std::uint32_t type, Use use) noexcept {
  switch (type) {
    case INLAY_F32: return use(float{}, 1);
    case INLAY_F16: return use(Half{}, 1);
    case INLAY_BF16: return use(Brain{}, 1);
    case INLAY_Q8_0: return use(gguf::BlockQ8_0{}, block);
    default: return use(gguf::BlockQ4_0{}, block);
  }
}

// A unit seen as what a tile interleaves: a scale of two bytes and codes of one, or a single number.
template <class Unit, class Use>
void each_piece(std::int64_t unit_offset, Use use) noexcept {
  if constexpr (sizeof(Unit) <= sizeof(float)) {
    use(unit_offset, sizeof(Unit));
  } else {
    use(unit_offset, sizeof(std::uint16_t));
    for (std::size_t i = sizeof(std::uint16_t); i < sizeof(Unit); ++i)
      use(unit_offset + static_cast<std::int64_t>(i), 1);
  }
}

std::byte* head_address(const inlay_cache& cache, const VectorLayout& layout, std::int32_t slot, int head) noexcept {
  return page_address(cache, slot / cache.page_size) + layout.offset + head * layout.head_bytes;
}

}  // namespace

VectorLayout key_layout(const inlay_cache& cache) noexcept {
  const std::int64_t row = bytes_of(cache.k_type, cache.k_dim);
  const bool tiled = cache.kind == INLAY_CACHE_KV && cache.page_size % tile_keys == 0;
  return {cache.k_type, cache.k_dim, tiled, cache.k_offset, row, row * cache.page_size};
}

VectorLayout value_layout(const inlay_cache& cache) noexcept {
  if (cache.kind == INLAY_CACHE_LATENT) {
    VectorLayout layout = key_layout(cache);
    layout.dims = cache.v_dim;
    return layout;
  }
  const std::int64_t row = bytes_of(cache.v_type, cache.v_dim);
  return {cache.v_type, cache.v_dim, false, cache.v_offset, row, row * cache.page_size};
}

bool can_cache(const inlay_cache& cache) noexcept {
  if (cache.kind == INLAY_CACHE_STATE) return true;
  if (cache.kind == INLAY_CACHE_LATENT && (cache.v_dim > cache.k_dim || !can_store(cache.k_type, cache.v_dim)))
    return false;
  return can_store(cache.k_type, cache.k_dim) &&
         (cache.kind == INLAY_CACHE_LATENT || can_store(cache.v_type, cache.v_dim)) && cache.heads > 0 &&
         cache.page_size > 0;
}

void write_vector(const VectorLayout& layout, std::byte* head, std::int64_t row, const float* x) noexcept {
  with_unit(layout.type, [&](auto unit, int floats) {
    using Unit = decltype(unit);
    std::byte* target = head + (layout.tiled ? row / tile_keys * tile_keys : row) * layout.row_bytes;
    const std::int64_t lane = row % tile_keys;
    for (std::int64_t i = 0, offset = 0; i < layout.dims; i += floats, offset += sizeof(Unit)) {
      encode(x + i, unit);
      const auto* bytes = reinterpret_cast<const std::byte*>(&unit);
      if (!layout.tiled) {
        std::memcpy(target + offset, bytes, sizeof unit);
        continue;
      }
      each_piece<Unit>(offset, [&](std::int64_t at, std::size_t size) {
        std::memcpy(target + at * tile_keys + lane * static_cast<std::int64_t>(size), bytes + (at - offset), size);
      });
    }
  });
}

void read_vector(const VectorLayout& layout, const std::byte* head, std::int64_t row, float* x) noexcept {
  with_unit(layout.type, [&](auto unit, int floats) {
    using Unit = decltype(unit);
    const std::byte* source = head + (layout.tiled ? row / tile_keys * tile_keys : row) * layout.row_bytes;
    const std::int64_t lane = row % tile_keys;
    for (std::int64_t i = 0, offset = 0; i < layout.dims; i += floats, offset += sizeof(Unit)) {
      auto* bytes = reinterpret_cast<std::byte*>(&unit);
      if (!layout.tiled) {
        std::memcpy(bytes, source + offset, sizeof unit);
      } else {
        each_piece<Unit>(offset, [&](std::int64_t at, std::size_t size) {
          std::memcpy(bytes + (at - offset), source + at * tile_keys + lane * static_cast<std::int64_t>(size), size);
        });
      }
      decode(unit, x + i);
    }
  });
}

std::size_t cache_bytes(const inlay_cache& cache, int which) noexcept {
  if (cache.kind == INLAY_CACHE_STATE) return which == 0 ? static_cast<std::size_t>(cache.state_bytes) : 0;
  if (cache.kind == INLAY_CACHE_LATENT && which == 1) return 0;
  const VectorLayout layout = which == 0 ? key_layout(cache) : value_layout(cache);
  constexpr std::int64_t line = 64;
  return static_cast<std::size_t>((layout.head_bytes * cache.heads + line - 1) / line * line);
}

void read_rows(const inlay_cache& cache, const std::int32_t* slots, int n, float* k, float* v) noexcept {
  if (cache.kind == INLAY_CACHE_STATE) {
    const auto bytes = static_cast<std::size_t>(cache.state_bytes);
    for (int i = 0; i < n; ++i) std::memcpy(k + i * bytes / sizeof(float), state_address(cache, slots[i]), bytes);
    return;
  }
  const VectorLayout keys = key_layout(cache), values = value_layout(cache);
  for (std::int64_t i = 0; i < n * std::int64_t{cache.heads}; ++i) {
    const std::int32_t slot = slots[i / cache.heads];
    const int head = static_cast<int>(i % cache.heads), row = slot % cache.page_size;
    read_vector(keys, head_address(cache, keys, slot, head), row, k + i * keys.dims);
    if (v) read_vector(values, head_address(cache, values, slot, head), row, v + i * values.dims);
  }
}

void write_rows(const inlay_cache& cache, const std::int32_t* slots, int n, const float* k, const float* v) noexcept {
  if (cache.kind == INLAY_CACHE_STATE) {
    const auto bytes = static_cast<std::size_t>(cache.state_bytes);
    for (int i = 0; i < n; ++i) std::memcpy(state_address(cache, slots[i]), k + i * bytes / sizeof(float), bytes);
    return;
  }
  const VectorLayout keys = key_layout(cache), values = value_layout(cache);
  for (std::int64_t i = 0; i < n * std::int64_t{cache.heads}; ++i) {
    const std::int32_t slot = slots[i / cache.heads];
    const int head = static_cast<int>(i % cache.heads), row = slot % cache.page_size;
    write_vector(keys, head_address(cache, keys, slot, head), row, k + i * keys.dims);
    if (v && cache.kind == INLAY_CACHE_KV)
      write_vector(values, head_address(cache, values, slot, head), row, v + i * values.dims);
  }
}

}  // namespace inlay::cpu
