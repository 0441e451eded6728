// The instruction sets as tags: each names the xsimd architecture of its floats. What xsimd lacks is overloaded on them.
#pragma once

#include <xsimd/xsimd.hpp>

namespace inlay::cpu {
namespace {  // compiled once for each instruction set: nothing here may be shared between their object files
namespace isa {

#if defined(__x86_64__)
struct Baseline { using arch = xsimd::sse2; };
#if defined(__AVX2__)
struct Avx2 { using arch = xsimd::fma3<xsimd::avx2>; };
#endif
#if defined(__AVX512BW__)
struct Avx512 { using arch = xsimd::avx512bw; };
struct Avx512Vnni : Avx512 {};
struct Avx512Bf16 : Avx512Vnni {};
#endif
#else
struct Neon { using arch = xsimd::neon64; };
struct NeonDot : Neon {};
struct NeonI8mm : NeonDot {};
#endif

}  // namespace isa

template <class A>
using Floats = xsimd::batch<float, typename A::arch>;
template <class A>
using Ints = xsimd::batch<std::int32_t, typename A::arch>;

}  // namespace
}  // namespace inlay::cpu
