// AVX2: 8 rows a vector.
#pragma once

#include <immintrin.h>

namespace inlay::cpu {
namespace {
namespace isa {

struct Avx2 {
  using arch = xsimd::fma3<xsimd::avx2>;
  using Bytes = __m256i;
  static constexpr int rows = 8, tokens = 4, plain_tokens = 6, few_tokens = 4, most_few = 4, signed_bias = 0;
  static constexpr int paired_tokens = 0, paired_plain_tokens = 0;  // two groups of rows at once: too few registers

  static INLAY_INLINE Bytes load(const void* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(from));
  }
  static INLAY_INLINE void store(void* to, Bytes bytes) noexcept {
    _mm256_storeu_si256(static_cast<__m256i*>(to), bytes);
  }

  // Bits of every byte: shifted right (left where negative), then masked.
  template <int right, int mask>
  static INLAY_INLINE Bytes field(Bytes bytes) noexcept {
    if constexpr (right > 0) bytes = _mm256_srli_epi32(bytes, right);
    if constexpr (right < 0) bytes = _mm256_slli_epi32(bytes, -right);
    return _mm256_and_si256(bytes, _mm256_set1_epi8(mask));
  }
  static INLAY_INLINE Bytes merge(Bytes a, Bytes b) noexcept { return _mm256_or_si256(a, b); }
  static INLAY_INLINE Bytes lookup(const std::int8_t (&table)[16], Bytes indices) noexcept {
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))),
                               indices);
  }

  // Quad q of activations, the same for every row.
  template <int q>
  static INLAY_INLINE Bytes spread(const std::int8_t* codes) noexcept {
    std::int32_t quad;
    __builtin_memcpy(&quad, codes + 4 * q, sizeof quad);
    return _mm256_set1_epi32(quad);
  }

  // Sums products of codes of so many bits (8: signed, else not) with activations, exactly: in 16 bits as long as they
  // are sure to fit, then in 32. The maximum of a pair of products is 2 * (2^bits - 1) * 127.
  template <int bits>
  struct Dot {
    static constexpr int fit = bits <= 4 ? 8 : bits == 5 ? 4 : bits == 6 ? 2 : 1;
    __m256i pairs, sums;

    template <int i>
    INLAY_INLINE void add(Bytes codes, Bytes x) noexcept {
      const __m256i products = bits == 8 ? _mm256_maddubs_epi16(_mm256_abs_epi8(codes), _mm256_sign_epi8(x, codes))
                                         : _mm256_maddubs_epi16(codes, x);
      pairs = i % fit == 0 ? products : _mm256_add_epi16(pairs, products);
      asm("" : "+x"(pairs));  // add now: compilers would put off all sums to the end, and run out of registers
      if constexpr (i % fit == fit - 1) flush<(i < fit)>();
    }
    template <bool first>
    INLAY_INLINE void flush() noexcept {
      const __m256i wide = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
      sums = first ? wide : _mm256_add_epi32(sums, wide);
      asm("" : "+x"(sums));
    }
    // After n calls of add.
    template <int n>
    INLAY_INLINE xsimd::batch<std::int32_t, arch> total() noexcept {
      if constexpr (n % fit != 0) flush<(n < fit)>();
      return sums;
    }
  };

  static INLAY_INLINE float half(std::uint16_t bits) noexcept { return _cvtsh_ss(bits); }
  static INLAY_INLINE xsimd::batch<float, arch> halves(const std::uint16_t* from) noexcept {
    return _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static INLAY_INLINE xsimd::batch<float, arch> bfloats(const std::uint16_t* from) noexcept {
    const __m128i bits = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const std::uint8_t* from) noexcept {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const std::int8_t* from) noexcept {
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
  }
  template <class Byte>
  static INLAY_INLINE xsimd::batch<float, arch> widen(const Byte* from) noexcept {
    return xsimd::to_float(ints(from));
  }
  // 32 integers that fit, as bytes.
  static INLAY_INLINE void narrow(const xsimd::batch<std::int32_t, arch> (&from)[4], std::int8_t* to) noexcept {
    const __m256i low = _mm256_packs_epi32(from[0], from[1]), high = _mm256_packs_epi32(from[2], from[3]);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);  // packs work on halves of the register
    store(to, _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order));
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> nearest(xsimd::batch<float, arch> x) noexcept {
    return _mm256_cvtps_epi32(x);
  }
};

}  // namespace isa
}  // namespace
}  // namespace inlay::cpu
