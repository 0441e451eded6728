// Rounds activations to bfloat16, or to bytes in blocks of 32 columns: q = nearest-even(x * (127 / max|x|)), scale
// max|x| / 127.
#pragma once

#include "cpu/packed.hpp"
#include "cpu/simd/narrow.hpp"

namespace inlay::cpu {
namespace {

template <class A>
INLAY_INLINE float largest_lane(Floats<A> values) noexcept {
  if constexpr (requires { A::largest(values); }) {
    return A::largest(values);
  } else {
    constexpr int lanes = static_cast<int>(Floats<A>::size);
    float each[lanes];
    values.store_unaligned(each);
    for (int n = lanes / 2; n > 0; n /= 2) {
      for (int i = 0; i < n; ++i) each[i] = each[i] > each[i + n] ? each[i] : each[i + n];
    }
    return each[0];
  }
}

template <class A>
INLAY_INLINE std::int32_t sum_of_lanes(Ints<A> values) noexcept {
  if constexpr (requires { A::sum(values); }) {
    return A::sum(values);
  } else {
    return xsimd::hadd(values);
  }
}

template <class A>
void quantize(const float* x, int blocks, Activation* y) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size), vectors = block_columns / lanes;
  for (; blocks > 0; --blocks, x += block_columns, ++y) {
    __builtin_prefetch(y + 8, 1);  // each would be waited for: a processor writes in order
    Floats<A> values[vectors], largest(0.0f);
    INLAY_UNROLL for (int i = 0; i < vectors; ++i) {
      values[i] = Floats<A>::load_unaligned(x + i * lanes);
      largest = xsimd::max(xsimd::abs(values[i]), largest);
    }
    const float limit = largest_lane<A>(largest);
    const float ratio = 127.0f / limit;  // infinite where all are zero, or too small for a code to exist
    const Floats<A> inverse(ratio > 3.4e38f ? 0.0f : ratio);
    Ints<A> codes[vectors], sums[2] = {Ints<A>(0), Ints<A>(0)};
    INLAY_UNROLL for (int i = 0; i < vectors; ++i) {
      codes[i] = A::nearest(values[i] * inverse);
      sums[2 * i / vectors] += codes[i];
    }
    A::narrow(codes, y->codes);
    y->scale = limit / 127.0f;
    std::int32_t part_sums[2];
    INLAY_UNROLL for (int part = 0; part < 2; ++part) {
      part_sums[part] = sum_of_lanes<A>(sums[part]);
      y->part_offsets[part] = -128 * part_sums[part];
      y->scaled_part_sums[part] = y->scale * static_cast<float>(part_sums[part]);
    }
    y->offset = y->part_offsets[0] + y->part_offsets[1];
    y->scaled_sum = y->scale * static_cast<float>(part_sums[0] + part_sums[1]);
  }
}

// Rows as bfloat16, ties to even; zeros in the rest of the last vector.
template <class A>
void to_bfloats(const float* x, int n, std::uint16_t* y) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  for (; n >= lanes; n -= lanes, x += lanes, y += lanes) narrow_bfloat16(A(), Floats<A>::load_unaligned(x), y);
  if (n == 0) return;
  float rest[lanes] = {};
  for (int i = 0; i < n; ++i) rest[i] = x[i];
  narrow_bfloat16(A(), Floats<A>::load_unaligned(rest), y);
}

}  // namespace
}  // namespace inlay::cpu
