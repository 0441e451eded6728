// The instruction sets as tags. Each names the xsimd architecture of its floats and has what xsimd lacks: products of
// bytes, bit fields, half-precision numbers. A vector of codes holds whole rows of a quad (see packed.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <xsimd/xsimd.hpp>

#include "cpu/packed.hpp"
#include "cpu/simd/unroll.hpp"

#if defined(__x86_64__)
#include "cpu/simd/sse2.hpp"
#if defined(__AVX2__)
#include "cpu/simd/avx2.hpp"
#endif
#if defined(__AVX512BW__)
#include "cpu/simd/amx.hpp"
#endif
#else
#include "cpu/simd/neon.hpp"
#endif

namespace inlay::cpu {
namespace {

template <class A>
using Floats = xsimd::batch<float, typename A::arch>;
template <class A>
using Ints = xsimd::batch<std::int32_t, typename A::arch>;

// Whether the processor multiplies pairs of bfloat16.
template <class A>
constexpr bool has_pairs = requires {
  &A::add_pairs;
};

// a * b + c, rounded once where the processor can. (xsimd 8 rounds twice on AVX-512.)
template <class Arch>
INLAY_INLINE xsimd::batch<float, Arch> fused(xsimd::batch<float, Arch> a, xsimd::batch<float, Arch> b,
                                             xsimd::batch<float, Arch> c) noexcept {
#if defined(__AVX512F__)
  if constexpr (xsimd::batch<float, Arch>::size == 16) return _mm512_fmadd_ps(a, b, c);
#endif
  return xsimd::fma(a, b, c);
}

// a / b, rounded once. (xsimd 8 multiplies by an estimated reciprocal on NEON.)
template <class Arch>
INLAY_INLINE xsimd::batch<float, Arch> quotient(xsimd::batch<float, Arch> a, xsimd::batch<float, Arch> b) noexcept {
#if defined(__aarch64__)
  return vdivq_f32(a, b);
#else
  return a / b;
#endif
}

}  // namespace
}  // namespace inlay::cpu
