// SSE2, which every x86-64 processor has: 4 rows a vector. Plain rather than fast.
#pragma once

#include <emmintrin.h>

namespace inlay::cpu {
namespace {
namespace isa {

struct Baseline {
  using arch = xsimd::sse2;
  using Bytes = __m128i;
  static constexpr int rows = 4, tokens = 1, plain_tokens = 2, few_tokens = 1, most_few = 2, signed_bias = 0;
  static constexpr int paired_tokens = 0, paired_plain_tokens = 0;  // two groups of rows at once: too few registers

  static INLAY_INLINE Bytes load(const void* from) noexcept {
    return _mm_loadu_si128(static_cast<const __m128i*>(from));
  }
  static INLAY_INLINE void store(void* to, Bytes bytes) noexcept { _mm_storeu_si128(static_cast<__m128i*>(to), bytes); }

  template <int right, int mask>
  static INLAY_INLINE Bytes field(Bytes bytes) noexcept {
    if constexpr (right > 0) bytes = _mm_srli_epi32(bytes, right);
    if constexpr (right < 0) bytes = _mm_slli_epi32(bytes, -right);
    return _mm_and_si128(bytes, _mm_set1_epi8(mask));
  }
  static INLAY_INLINE Bytes merge(Bytes a, Bytes b) noexcept { return _mm_or_si128(a, b); }
  static INLAY_INLINE Bytes lookup(const std::int8_t (&table)[16], Bytes indices) noexcept {
    alignas(16) std::int8_t bytes[16];
    store(bytes, indices);
    for (std::int8_t& byte : bytes) byte = table[byte & 15];
    return load(bytes);
  }
  template <int q>
  static INLAY_INLINE Bytes spread(const std::int8_t* codes) noexcept {
    std::int32_t quad;
    __builtin_memcpy(&quad, codes + 4 * q, sizeof quad);
    return _mm_set1_epi32(quad);
  }

  template <int bits>
  struct Dot {
    __m128i low, high;  // sums of pairs: two neighbours for each row

    static INLAY_INLINE __m128i sign(Bytes bytes) noexcept { return _mm_cmpgt_epi8(_mm_setzero_si128(), bytes); }

    template <int i>
    INLAY_INLINE void add(Bytes codes, Bytes x) noexcept {
      const __m128i upper = bits == 8 ? sign(codes) : _mm_setzero_si128();
      const __m128i wide = _mm_unpacklo_epi8(x, sign(x));
      const __m128i first = _mm_madd_epi16(_mm_unpacklo_epi8(codes, upper), wide);
      const __m128i second = _mm_madd_epi16(_mm_unpackhi_epi8(codes, upper), wide);
      low = i == 0 ? first : _mm_add_epi32(low, first);
      high = i == 0 ? second : _mm_add_epi32(high, second);
    }
    template <int n>
    INLAY_INLINE xsimd::batch<std::int32_t, arch> total() const noexcept {
      const __m128 a = _mm_castsi128_ps(low), b = _mm_castsi128_ps(high);
      return _mm_add_epi32(_mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(2, 0, 2, 0))),
                           _mm_castps_si128(_mm_shuffle_ps(a, b, _MM_SHUFFLE(3, 1, 3, 1))));
    }
  };

  static INLAY_INLINE xsimd::batch<float, arch> halves(const std::uint16_t* from) noexcept {
    const __m128i bits =
        _mm_unpacklo_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)), _mm_setzero_si128());
    const __m128i magnitude = _mm_and_si128(bits, _mm_set1_epi32(0x7FFF));
    const __m128 scaled = _mm_mul_ps(_mm_castsi128_ps(_mm_slli_epi32(magnitude, 13)), _mm_set1_ps(0x1p112f));
    const __m128i special =
        _mm_and_si128(_mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7BFF)), _mm_set1_epi32(0x7F800000));
    const __m128i sign = _mm_slli_epi32(_mm_xor_si128(bits, magnitude), 16);
    return _mm_or_ps(scaled, _mm_castsi128_ps(_mm_or_si128(special, sign)));
  }
  static INLAY_INLINE xsimd::batch<float, arch> bfloats(const std::uint16_t* from) noexcept {
    return _mm_castsi128_ps(
        _mm_unpacklo_epi16(_mm_setzero_si128(), _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from))));
  }
  template <class Byte>
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> ints(const Byte* from) noexcept {
    return _mm_setr_epi32(from[0], from[1], from[2], from[3]);
  }
  template <class Byte>
  static INLAY_INLINE xsimd::batch<float, arch> widen(const Byte* from) noexcept {
    return xsimd::to_float(ints(from));
  }
  static INLAY_INLINE void narrow(const xsimd::batch<std::int32_t, arch> (&from)[8], std::int8_t* to) noexcept {
    for (int i = 0; i < 8; i += 4) {
      store(to + 4 * i,
            _mm_packs_epi16(_mm_packs_epi32(from[i], from[i + 1]), _mm_packs_epi32(from[i + 2], from[i + 3])));
    }
  }
  static INLAY_INLINE xsimd::batch<std::int32_t, arch> nearest(xsimd::batch<float, arch> x) noexcept {
    return _mm_cvtps_epi32(x);
  }
};

}  // namespace isa
}  // namespace
}  // namespace inlay::cpu
