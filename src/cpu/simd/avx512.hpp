// AVX-512, alone, with the byte products of VNNI, and with bfloat16 products: all 16 rows in one vector.
#pragma once

#include <immintrin.h>

namespace inlay::cpu {
namespace {
namespace isa {

struct Avx512 {
  using arch = xsimd::avx512bw;
  using Bytes = __m512i;
  static constexpr int rows = 16, tokens = 8, plain_tokens = 12, few_tokens = 8, most_few = 16, signed_bias = 0;
  static constexpr int paired_tokens = 4, paired_plain_tokens = 8;  // of two groups of rows, which share what is spread

  // Zen prefetches one stream by itself as fast as memory is, and no faster than three quarters of that where lines far
  // ahead are asked for; Sapphire Rapids reads the faster by a third for it.
  static INLAY_INLINE int prefetch_bytes_of_one() noexcept { return __builtin_cpu_is("amd") ? 1024 : 8192; }

  static INLAY_INLINE Bytes load(const void* from) noexcept { return _mm512_loadu_si512(from); }
  static INLAY_INLINE void store(void* to, Bytes bytes) noexcept { _mm512_storeu_si512(to, bytes); }

  template <int right, int mask>
  static INLAY_INLINE Bytes field(Bytes bytes) noexcept {
    if constexpr (right > 0) bytes = _mm512_srli_epi32(bytes, right);
    if constexpr (right < 0) bytes = _mm512_slli_epi32(bytes, -right);
    return _mm512_and_si512(bytes, _mm512_set1_epi8(mask));
  }
  static INLAY_INLINE Bytes merge(Bytes a, Bytes b) noexcept { return _mm512_or_si512(a, b); }
  template <int by>
  static INLAY_INLINE Bytes less(Bytes codes) noexcept {
    return _mm512_sub_epi8(codes, _mm512_set1_epi8(static_cast<char>(by)));
  }
  static INLAY_INLINE Bytes lookup(const std::int8_t (&table)[16], Bytes indices) noexcept {
    return _mm512_shuffle_epi8(_mm512_broadcast_i32x4(_mm_loadu_si128(reinterpret_cast<const __m128i*>(table))),
                               indices);
  }
  template <int q>
  static INLAY_INLINE Bytes spread(const std::int8_t* codes) noexcept {
    std::int32_t quad;
    __builtin_memcpy(&quad, codes + 4 * q, sizeof quad);
    return _mm512_set1_epi32(quad);
  }

  // As in AVX2.
  template <int bits>
  struct Dot {
    static constexpr int fit = bits <= 4 ? 8 : bits == 5 ? 4 : bits == 6 ? 2 : 1;
    __m512i pairs, sums;

    template <int i>
    INLAY_INLINE void add(Bytes codes, Bytes x) noexcept {
      if constexpr (bits == 8) {
        x = _mm512_mask_sub_epi8(x, _mm512_movepi8_mask(codes), _mm512_setzero_si512(), x);
        codes = _mm512_abs_epi8(codes);
      }
      const __m512i products = _mm512_maddubs_epi16(codes, x);
      pairs = i % fit == 0 ? products : _mm512_add_epi16(pairs, products);
      asm("" : "+v"(pairs));  // add now: compilers would put off all sums to the end, and run out of registers
      if constexpr (i % fit == fit - 1) flush<(i < fit)>();
    }
    template <bool first>
    INLAY_INLINE void flush() noexcept {
      const __m512i wide = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
      sums = first ? wide : _mm512_add_epi32(sums, wide);
      asm("" : "+v"(sums));
    }
    template <int n>
    INLAY_INLINE xsimd::batch<std::int32_t, arch> total() noexcept {
      if constexpr (n % fit != 0) flush<(n < fit)>();
      return sums;
    }
  };

  static INLAY_INLINE float half(std::uint16_t bits) noexcept { return _cvtsh_ss(bits); }
  static INLAY_INLINE xsimd::batch<float, arch> halves(const std::uint16_t* from) noexcept {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static INLAY_INLINE xsimd::batch<float, arch> bfloats(const std::uint16_t* from) noexcept {
    const __m256i bits = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const std::uint8_t* from) noexcept {
    return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const std::int8_t* from) noexcept {
    return _mm512_cvtepi8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
  }
  template <class Byte>
  static INLAY_INLINE xsimd::batch<float, arch> widen(const Byte* from) noexcept {
    return xsimd::to_float(ints(from));
  }
  static INLAY_INLINE void narrow(const xsimd::batch<std::int32_t, arch> (&from)[2], std::int8_t* to) noexcept {
    for (int i = 0; i < 2; ++i) _mm_storeu_si128(reinterpret_cast<__m128i*>(to) + i, _mm512_cvtepi32_epi8(from[i]));
  }
  static INLAY_INLINE float largest(xsimd::batch<float, arch> x) noexcept { return _mm512_reduce_max_ps(x); }
  static INLAY_INLINE std::int32_t sum(xsimd::batch<std::int32_t, arch> x) noexcept {
    return _mm512_reduce_add_epi32(x);
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> nearest(xsimd::batch<float, arch> x) noexcept {
    return _mm512_cvtps_epi32(x);
  }
};

#if defined(__AVX512VNNI__)
struct Avx512Vnni : Avx512 {
  static constexpr int signed_bias = 128;  // vpdpbusd takes unsigned weights only
  static INLAY_INLINE Bytes flip_signs(Bytes codes) noexcept { return _mm512_xor_si512(codes, _mm512_set1_epi8(-128)); }

  template <int bits>
  struct Dot {
    __m512i sums;

    INLAY_INLINE void begin(xsimd::batch<std::int32_t, arch> first) noexcept { sums = first; }
    template <int>
    INLAY_INLINE void add(Bytes codes, Bytes x) noexcept {
      sums = _mm512_dpbusd_epi32(sums, codes, x);
    }
    template <int n>
    INLAY_INLINE xsimd::batch<std::int32_t, arch> total() const noexcept {
      return sums;
    }
  };
};
#endif

#if defined(__AVX512BF16__)
struct Avx512Bf16 : Avx512Vnni {
  static constexpr int most_few = 32;  // as AMD's processors like it

  // Two columns of all rows as one pair for each row, in bfloat16; or one, the other being zero.
  static INLAY_INLINE Bytes pairs_of_bfloats(const std::uint16_t* from) noexcept { return interleaved(load(from)); }
  static INLAY_INLINE Bytes pairs_of_bfloats(const std::uint16_t* first, const std::uint16_t* second) noexcept {
    const auto half = [](const std::uint16_t* from)
                          INLAY_ALWAYS { return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)); };
    return interleaved(_mm512_inserti64x4(_mm512_castsi256_si512(half(first)), half(second), 1));
  }
  static INLAY_INLINE Bytes pairs_of_halves(const std::uint16_t* from) noexcept {
    return interleaved((__m512i)_mm512_cvtne2ps_pbh(halves(from + rows), halves(from)));
  }
  static INLAY_INLINE Bytes half_pairs_of_bfloats(const std::uint16_t* from) noexcept {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  }
  static INLAY_INLINE Bytes half_pairs_of_halves(const std::uint16_t* from) noexcept {
    return _mm512_cvtepu16_epi32((__m256i)_mm512_cvtneps_pbh(halves(from)));
  }
  static INLAY_INLINE Bytes second_of_pairs(const std::uint16_t* from) noexcept {
    return _mm512_slli_epi32(half_pairs_of_bfloats(from), 16);
  }

  static INLAY_INLINE xsimd::batch<float, arch> add_pairs(xsimd::batch<float, arch> sums, Bytes pairs,
                                                          Bytes x) noexcept {
    return _mm512_dpbf16_ps(sums, (__m512bh)pairs, (__m512bh)x);
  }

 private:
  static INLAY_INLINE Bytes interleaved(Bytes words) noexcept {  // words 0 and 16, 1 and 17, ...
    const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24, 8, 23, 7, 22, 6,
                                           21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
    return _mm512_permutexvar_epi16(order, words);
  }
};
#endif

}  // namespace isa
}  // namespace
}  // namespace inlay::cpu
