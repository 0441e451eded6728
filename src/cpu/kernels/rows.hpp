// Passes over a row of logits: the largest of every stretch, and the sum of what softmax makes of them.
#pragma once

#include <limits>

#include "cpu/cpu.hpp"
#include "cpu/kernels/math.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/simd/unroll.hpp"

namespace inlay::cpu {
namespace {

template <class A>
inline float largest_lane(const Floats<A>& x) noexcept {
  float lanes[Floats<A>::size];
  x.store_unaligned(lanes);
  for (std::size_t half = Floats<A>::size / 2; half > 0; half /= 2)
    for (std::size_t i = 0; i < half; ++i) lanes[i] = lanes[i + half] > lanes[i] ? lanes[i + half] : lanes[i];
  return lanes[0];
}

template <class A>
inline bool row_maxima(const float* x, std::int64_t n, float* most) noexcept {
  using B = Floats<A>;
  constexpr std::int64_t lanes = B::size;
  const B infinity(std::numeric_limits<float>::infinity());
  auto finite = B(0.0f) < infinity;  // NaN is below nothing
  std::int64_t i = 0;
  for (; i + row_stretch <= n; i += row_stretch) {
    B top = B::load_unaligned(x + i);
    finite = finite & (top < infinity);
    unroll<row_stretch / lanes - 1>([&](auto j) {
      const B next = B::load_unaligned(x + i + (j + 1) * lanes);
      finite = finite & (next < infinity);
      top = xsimd::max(top, next);
    });
    *most++ = largest_lane<A>(top);
  }
  bool rest_finite = true;
  for (std::int64_t j = i; j < n; ++j) {
    rest_finite = rest_finite && x[j] < std::numeric_limits<float>::infinity();
    *most = j == i || x[j] > *most ? x[j] : *most;
  }
  return rest_finite && xsimd::all(finite);
}

// In runs that are short enough for sums of f32.
template <class A>
inline double row_mass(const float* x, std::int64_t n, float top) noexcept {
  using B = Floats<A>;
  constexpr std::int64_t lanes = B::size, run = 4096, together = 4;
  double total = 0;
  std::int64_t i = 0;
  while (i + together * lanes <= n) {
    B sums[together] = {B(0.0f), B(0.0f), B(0.0f), B(0.0f)};
    for (const std::int64_t end = i + run; i < end && i + together * lanes <= n; i += together * lanes)
      unroll<together>(
          [&](auto j) { sums[j] = sums[j] + math::exp_of_negative(B::load_unaligned(x + i + j * lanes) - B(top)); });
    total += static_cast<double>(sum_of_lanes<A>((sums[0] + sums[1]) + (sums[2] + sums[3])));
  }
  float rest[together * lanes];
  for (std::int64_t j = 0; j < together * lanes; ++j)
    rest[j] = i + j < n ? x[i + j] : -std::numeric_limits<float>::infinity();
  B sum(0.0f);
  unroll<together>([&](auto j) { sum = sum + math::exp_of_negative(B::load_unaligned(rest + j * lanes) - B(top)); });
  return total + static_cast<double>(sum_of_lanes<A>(sum));
}

template <class A>
constexpr RowKernels row_kernels() noexcept {
  return {.maxima = row_maxima<A>, .mass = row_mass<A>};
}

}  // namespace
}  // namespace inlay::cpu
