// Rounds activations to bytes in blocks of 32 columns: q = nearest-even(x * (127 / max|x|)), scale max|x| / 127.
#pragma once

#include "cpu/packed.hpp"
#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

template <class Arch>
INLAY_INLINE float largest_lane(xsimd::batch<float, Arch> values) noexcept {
  constexpr int lanes = static_cast<int>(xsimd::batch<float, Arch>::size);
  float each[lanes];
  values.store_unaligned(each);
  for (int n = lanes / 2; n > 0; n /= 2) {
    for (int i = 0; i < n; ++i) each[i] = each[i] > each[i + n] ? each[i] : each[i + n];
  }
  return each[0];
}

template <class A>
void quantize(const float* x, int blocks, Activation* y) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size), vectors = block_columns / lanes;
  for (; blocks > 0; --blocks, x += block_columns, ++y) {
    Floats<A> values[vectors], largest(0.0f);
    INLAY_UNROLL for (int i = 0; i < vectors; ++i) {
      values[i] = Floats<A>::load_unaligned(x + i * lanes);
      largest = xsimd::max(xsimd::abs(values[i]), largest);
    }
    const float limit = largest_lane(largest);
    const float ratio = 127.0f / limit;  // infinite where all are zero, or too small for a code to exist
    const Floats<A> inverse(ratio > 3.4e38f ? 0.0f : ratio);
    Ints<A> codes[vectors], sums[2] = {Ints<A>(0), Ints<A>(0)};
    INLAY_UNROLL for (int i = 0; i < vectors; ++i) {
      codes[i] = A::nearest(values[i] * inverse);
      sums[2 * i / vectors] += codes[i];
    }
    A::narrow(codes, y->codes);
    y->scale = limit / 127.0f;
    INLAY_UNROLL for (int part = 0; part < 2; ++part) {
      y->part_sums[part] = xsimd::hadd(sums[part]);
      y->scaled_part_sums[part] = y->scale * static_cast<float>(y->part_sums[part]);
    }
    y->sum = y->part_sums[0] + y->part_sums[1];
    y->scaled_sum = y->scale * static_cast<float>(y->sum);
  }
}

}  // namespace
}  // namespace inlay::cpu
