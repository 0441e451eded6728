// Rounds activations to bytes in blocks of 32 columns: q = nearest-even(x * (127 / max|x|)), scale max|x| / 127.
#pragma once

#include "cpu/packed.hpp"
#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

template <class A>
INLAY_INLINE float largest_magnitude(const float* x) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  Floats<A> largest = xsimd::abs(Floats<A>::load_unaligned(x));
  unroll<block_columns / lanes - 1>([&](auto i) {
    largest = xsimd::max(largest, xsimd::abs(Floats<A>::load_unaligned(x + (i + 1) * lanes)));
  });
  float each[lanes];
  largest.store_unaligned(each);
  for (int n = lanes / 2; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) each[i] = each[i] > each[i + n] ? each[i] : each[i + n];
  }
  return each[0];
}

template <class A>
void quantize(const float* x, int blocks, Activation* y) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  for (; blocks > 0; --blocks, x += block_columns, ++y) {
    const float largest = largest_magnitude<A>(x);
    const Floats<A> inverse(largest == 0 ? 0.0f : 127.0f / largest);
    std::int32_t codes[block_columns];
    unroll<block_columns / lanes>([&](auto i) {
      A::nearest(Floats<A>::load_unaligned(x + i * lanes) * inverse).store_unaligned(codes + i * lanes);
    });
    std::int32_t sums[2] = {};
    for (int i = 0; i < block_columns; ++i) {
      y->codes[i] = static_cast<std::int8_t>(codes[i]);
      sums[i / 16] += y->codes[i];
    }
    y->scale = largest / 127.0f;
    y->sum = sums[0] + sums[1];
    y->scaled_sum = y->scale * static_cast<float>(y->sum);
    for (int part = 0; part < 2; ++part) {
      y->part_sums[part] = sums[part];
      y->scaled_part_sums[part] = y->scale * static_cast<float>(sums[part]);
    }
  }
}

}  // namespace
}  // namespace inlay::cpu
