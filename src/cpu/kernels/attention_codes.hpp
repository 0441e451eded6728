// Keys and values of a Q8_0 or Q4_0 cache to floats, 16 numbers at a time.
#pragma once

#include <cstring>

#include "cpu/kernels/attention_tile.hpp"

namespace inlay::cpu {
namespace {

inline constexpr int coded_values = 32;  // that share a scale

template <class A>
using Scales = Floats<A>[vectors<A>];

// 16 codes of 8 bits.
template <class A>
INLAY_INLINE void widen_bytes(const std::byte* codes, const Scales<A>& scale, float* y) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  unroll<vectors<A>>([&](auto v) {
    const auto code = A::ints(reinterpret_cast<const std::int8_t*>(codes) + v * lanes);
    (scale[v] * xsimd::to_float(code)).store_unaligned(y + v * lanes);
  });
}

// 16 codes of 4 bits in the lower halves of bytes, and as many in the upper ones; they stand for -8 to 7.
template <class A>
INLAY_INLINE void widen_nibbles(const std::byte* codes, const Scales<A>& scale, float* low, float* high) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  unroll<vectors<A>>([&](auto v) {
    const Ints<A> both = A::ints(reinterpret_cast<const std::uint8_t*>(codes) + v * lanes);
    (scale[v] * xsimd::to_float((both & Ints<A>(15)) - Ints<A>(8))).store_unaligned(low + v * lanes);
    (scale[v] * xsimd::to_float((both >> 4) - Ints<A>(8))).store_unaligned(high + v * lanes);
  });
}

// A tile of keys to a panel [dims][16]: for 32 dimensions at a time 16 scales, then their codes.
template <class A>
inline void widen_coded_keys(std::uint32_t type, const std::byte* tile, int dims, float* panel) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  for (int d = 0; d < dims; d += coded_values, panel += tile_keys * coded_values) {
    const auto* scales = reinterpret_cast<const std::uint16_t*>(tile);
    Scales<A> scale;
    unroll<vectors<A>>([&](auto v) { scale[v] = A::halves(scales + v * lanes); });
    tile += tile_keys * sizeof *scales;
    if (type == INLAY_Q8_0) {
      for (int i = 0; i < coded_values; ++i, tile += tile_keys) widen_bytes<A>(tile, scale, panel + i * tile_keys);
      continue;
    }
    for (int i = 0; i < coded_values / 2; ++i, tile += tile_keys) {
      widen_nibbles<A>(tile, scale, panel + i * tile_keys, panel + (i + coded_values / 2) * tile_keys);
    }
  }
}

template <class A>
INLAY_INLINE float half_value(std::uint16_t bits) noexcept {
  if constexpr (requires { A::half(bits); }) {
    return A::half(bits);
  } else {
    const std::uint16_t halves[Floats<A>::size] = {bits};
    float values[Floats<A>::size];
    A::halves(halves).store_unaligned(values);
    return values[0];
  }
}

// One value, to runs of 16 numbers that are `chunk` apart.
template <class A>
inline void widen_coded_value(std::uint32_t type, const std::byte* value, int dims, float* y, int chunk) noexcept {
  for (int d = 0; d < dims; d += coded_values, y += 2 * chunk) {
    std::uint16_t bits;
    std::memcpy(&bits, value, sizeof bits);
    const Floats<A> factor(half_value<A>(bits));
    Scales<A> scale;
    unroll<vectors<A>>([&](auto v) { scale[v] = factor; });
    value += sizeof bits;
    if (type == INLAY_Q8_0) {
      widen_bytes<A>(value, scale, y);
      widen_bytes<A>(value + tile_keys, scale, y + chunk);
      value += coded_values;
    } else {
      widen_nibbles<A>(value, scale, y, y + chunk);
      value += coded_values / 2;
    }
  }
}

}  // namespace
}  // namespace inlay::cpu
