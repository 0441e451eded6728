// A vector of floats to 16-bit floats, ties to even: `lanes` numbers to consecutive places.
#pragma once

#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

// The lower halves of 32-bit lanes.
#if defined(__x86_64__)
inline void store_words(isa::Baseline, const Ints<isa::Baseline>& words, std::uint16_t* target) noexcept {
  constexpr int evens = 0b11'11'10'00;
  const __m128i halves = _mm_shufflehi_epi16(_mm_shufflelo_epi16(words, evens), evens);
  _mm_storel_epi64(reinterpret_cast<__m128i*>(target), _mm_shuffle_epi32(halves, evens));
}
#if defined(__AVX2__)
inline void store_words(isa::Avx2, const Ints<isa::Avx2>& words, std::uint16_t* target) noexcept {
  const __m256i low = _mm256_and_si256(words, _mm256_set1_epi32(0xFFFF));
  const __m128i packed = _mm_packus_epi32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target), packed);
}
inline void narrow_half(isa::Avx2, const Floats<isa::Avx2>& x, std::uint16_t* target) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(target), _mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
#endif
#if defined(__AVX512BW__)
inline void store_words(isa::Avx512, const Ints<isa::Avx512>& words, std::uint16_t* target) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm512_cvtepi32_epi16(words));
}
inline void narrow_half(isa::Avx512, const Floats<isa::Avx512>& x, std::uint16_t* target) noexcept {
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(target), _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
#endif

inline void narrow_half(isa::Baseline a, const Floats<isa::Baseline>& x, std::uint16_t* target) noexcept {
  using I = Ints<isa::Baseline>;
  using F = Floats<isa::Baseline>;
  const I bits = xsimd::bitwise_cast<I>(x);
  const I size = bits & I(0x7FFFFFFF);
  const I normal = ((size + I(0xFFF) + ((size >> 13) & I(1))) >> 13) - I(112 << 10);
  const I tiny = xsimd::bitwise_cast<I>(xsimd::bitwise_cast<F>(size) + F(0.5f)) - I(0x3F000000);  // rounds at 2^-24
  const I nan = I(0x7E00) | ((size >> 13) & I(0x3FF));
  I half = xsimd::select(size < I(0x38800000), tiny, normal);
  half = xsimd::select(size >= I(0x477FF000), I(0x7C00), half);
  half = xsimd::select(size > I(0x7F800000), nan, half);
  store_words(a, half | ((bits >> 16) & I(0x8000)), target);
}
#else
inline void store_words(isa::Neon, const Ints<isa::Neon>& words, std::uint16_t* target) noexcept {
  vst1_u16(target, vmovn_u32(vreinterpretq_u32_s32(words)));
}
inline void narrow_half(isa::Neon, const Floats<isa::Neon>& x, std::uint16_t* target) noexcept {
  vst1_u16(target, vreinterpret_u16_f16(vcvt_f16_f32(x)));
}
#endif

template <class A>
inline void narrow_bfloat16(A a, const Floats<A>& x, std::uint16_t* target) noexcept {
  using I = Ints<A>;
  const I bits = xsimd::bitwise_cast<I>(x);
  const I rounded = bits + I(0x7FFF) + ((bits >> 16) & I(1));
  const I nan = bits | I(0x400000);
  store_words(a, xsimd::select((bits & I(0x7FFFFFFF)) > I(0x7F800000), nan, rounded) >> 16, target);
}

}  // namespace
}  // namespace inlay::cpu
