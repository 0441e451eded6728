// Whole rows, a vector at a time.
#pragma once

#include "cpu/simd/isa.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

// The first of `left` numbers, or all of them and zeros.
template <class A>
inline Floats<A> load_some(const float* x, std::int64_t left) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  if (left >= lanes) return Floats<A>::load_unaligned(x);
  float padded[lanes] = {};
  for (int i = 0; i < left; ++i) padded[i] = x[i];
  return Floats<A>::load_unaligned(padded);
}

template <class A>
inline void store_some(const Floats<A>& x, float* y, std::int64_t left) noexcept {
  constexpr int lanes = static_cast<int>(Floats<A>::size);
  if (left >= lanes) return x.store_unaligned(y);
  float padded[lanes];
  x.store_unaligned(padded);
  for (int i = 0; i < left; ++i) y[i] = padded[i];
}

template <class A>
inline float sum_of_lanes(const Floats<A>& x) noexcept {
  float lanes[Floats<A>::size], sum = 0;
  x.store_unaligned(lanes);
  for (const float lane : lanes) sum += lane;
  return sum;
}

// y[i] = f(a[i], b[i]...) for i < n; f takes and gives vectors, and sees zeros past the end.
template <class A, class F, class... Sources>
inline void transform(float* y, std::int64_t n, F f, const Sources*... sources) noexcept {
  using B = Floats<A>;
  constexpr std::int64_t lanes = B::size;
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(B::load_unaligned(sources + i)...).store_unaligned(y + i);
  if (i < n) store_some<A>(f(load_some<A>(sources + i, n - i)...), y + i, n - i);
}

}  // namespace
}  // namespace inlay::cpu
