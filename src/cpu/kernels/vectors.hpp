// Whole rows, a vector at a time.
#pragma once

#include "cpu/simd/isa.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

// y[i] = f(a[i], b[i]...) for i < n; f takes and gives vectors, and sees zeros past the end.
template <class A, class F, class... Sources>
inline void transform(float* y, std::int64_t n, F f, const Sources*... sources) noexcept {
  using B = Floats<A>;
  constexpr std::int64_t lanes = B::size;
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) f(B::load_unaligned(sources + i)...).store_unaligned(y + i);
  if (i == n) return;
  const auto rest = [&](const float* source) {
    float padded[lanes] = {};
    for (std::int64_t j = i; j < n; ++j) padded[j - i] = source[j];
    return B::load_unaligned(padded);
  };
  float padded[lanes];
  f(rest(sources)...).store_unaligned(padded);
  for (std::int64_t j = i; j < n; ++j) y[j] = padded[j - i];
}

}  // namespace
}  // namespace inlay::cpu
