// Loops that are gone before the compiler decides: their counter is a constant.
#pragma once

#include <type_traits>
#include <utility>

#define INLAY_ALWAYS __attribute__((always_inline))
#define INLAY_INLINE inline INLAY_ALWAYS
// Before a loop over registers: short, and its counter may stay a variable.
#define INLAY_UNROLL _Pragma("GCC unroll 16")

namespace inlay::cpu {
namespace {

template <class F, int... i>
INLAY_INLINE void unroll_over(std::integer_sequence<int, i...>, F&& f) noexcept {
  (f(std::integral_constant<int, i>()), ...);
}

// f(0), f(1), ... f(n - 1)
template <int n, class F>
INLAY_INLINE void unroll(F&& f) noexcept {
  unroll_over(std::make_integer_sequence<int, n>(), f);
}

}  // namespace
}  // namespace inlay::cpu
