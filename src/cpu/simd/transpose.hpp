// Turns small squares of numbers around in vectors of 16 bytes, which every processor has: rows become columns.
#pragma once

#include <cstdint>
#include <cstring>

#include "cpu/simd/unroll.hpp"

#if defined(__x86_64__)
#include <emmintrin.h>
#else
#include <arm_neon.h>
#endif

namespace inlay::cpu {

using Words = std::uint32_t __attribute__((vector_size(16)));
using ShortWords = std::uint16_t __attribute__((vector_size(16)));

template <class Vector>
inline Vector load_vector(const void* from) noexcept {
  Vector vector;
  std::memcpy(&vector, from, sizeof vector);
  return vector;
}
template <class Vector>
inline void store_vector(void* to, Vector vector) noexcept {
  std::memcpy(to, &vector, sizeof vector);
}

// Word i of rows 0 to 3 to where to(i) says.
template <class To>
inline void transpose(const Words (&rows)[4], const To& to) noexcept {
  const Words low_a = __builtin_shufflevector(rows[0], rows[1], 0, 4, 1, 5);
  const Words low_b = __builtin_shufflevector(rows[2], rows[3], 0, 4, 1, 5);
  const Words high_a = __builtin_shufflevector(rows[0], rows[1], 2, 6, 3, 7);
  const Words high_b = __builtin_shufflevector(rows[2], rows[3], 2, 6, 3, 7);
  store_vector(to(0), __builtin_shufflevector(low_a, low_b, 0, 1, 4, 5));
  store_vector(to(1), __builtin_shufflevector(low_a, low_b, 2, 3, 6, 7));
  store_vector(to(2), __builtin_shufflevector(high_a, high_b, 0, 1, 4, 5));
  store_vector(to(3), __builtin_shufflevector(high_a, high_b, 2, 3, 6, 7));
}

// Byte j of word i becomes byte i of word j. (Intrinsics: gcc makes one shuffle of two, which few processors have.)
inline Words transposed_bytes(const Words& words) noexcept {
#if defined(__x86_64__)
  auto bytes = reinterpret_cast<__m128i>(words);
  for (int i = 0; i < 2; ++i) bytes = _mm_unpacklo_epi8(bytes, _mm_srli_si128(bytes, 8));
  return reinterpret_cast<Words>(bytes);
#else
  constexpr std::uint8_t order[] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(reinterpret_cast<uint32x4_t>(words)), vld1q_u8(order)));
#endif
}

// Number i of rows 0 to 7 to where to(i) says: three times, each with its partner half the rows away.
template <class To>
inline void transpose(const ShortWords (&rows)[8], const To& to) noexcept {
  ShortWords from[8], mixed[8];
  INLAY_UNROLL for (int i = 0; i < 8; ++i) from[i] = rows[i];
  INLAY_UNROLL for (int step = 0; step < 3; ++step) {
    INLAY_UNROLL for (int i = 0; i < 4; ++i) {
      mixed[2 * i] = __builtin_shufflevector(from[i], from[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      mixed[2 * i + 1] = __builtin_shufflevector(from[i], from[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    INLAY_UNROLL for (int i = 0; i < 8; ++i) from[i] = mixed[i];
  }
  INLAY_UNROLL for (int i = 0; i < 8; ++i) store_vector(to(i), from[i]);
}

}  // namespace inlay::cpu
