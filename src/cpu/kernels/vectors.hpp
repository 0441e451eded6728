// Whole rows, a vector at a time.
#pragma once

#include "cpu/simd/isa.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

// Fewer numbers than a vector has, and zeros.
template <class A>
[[gnu::noinline]] Floats<A> load_rest(const float* x, std::int64_t left) noexcept {
  float padded[Floats<A>::size] = {};
  for (std::int64_t i = 0; i < left; ++i) padded[i] = x[i];
  return Floats<A>::load_unaligned(padded);
}
template <class A>
[[gnu::noinline]] void store_rest(const Floats<A>& x, float* y, std::int64_t left) noexcept {
  float padded[Floats<A>::size];
  x.store_unaligned(padded);
  for (std::int64_t i = 0; i < left; ++i) y[i] = padded[i];
}

// As many of `left` numbers as a vector has.
template <class A>
inline Floats<A> load_some(const float* x, std::int64_t left) noexcept {
  return left >= static_cast<std::int64_t>(Floats<A>::size) ? Floats<A>::load_unaligned(x) : load_rest<A>(x, left);
}
template <class A>
inline void store_some(const Floats<A>& x, float* y, std::int64_t left) noexcept {
  left >= static_cast<std::int64_t>(Floats<A>::size) ? x.store_unaligned(y) : store_rest<A>(x, y, left);
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
