// AVX-512 with the tile registers of AMX, which multiply 16 tokens by 16 rows at once.
#pragma once

#include <immintrin.h>

#include "cpu/simd/avx512.hpp"

namespace inlay::cpu {
namespace {
namespace isa {

#if defined(__AMX_INT8__) || defined(__AMXINT8__)  // gcc and clang, clang 14
struct Avx512Amx : Avx512Vnni {
  static constexpr int tile_tokens = 16, most_few = 12;  // unpacking for tiles costs as much as eight tokens

  // Shapes of the tile registers while blocks are cut into so many parts: 0 and 1 hold codes of tokens, 2 and 3 those
  // of rows, 4 and 5 sums.
  template <int parts>
  struct alignas(64) Shapes {
    std::uint8_t palette = 1, start = 0, unused[14] = {};
    std::uint16_t bytes[16] = {32 / parts, 32 / parts, 64, 64, 64, 64};
    std::uint8_t rows[16] = {16, 16, 8 / parts, 8 / parts, 16, 16};
  };
  template <int parts>
  static INLAY_INLINE void open_tiles() noexcept {
    static constexpr Shapes<parts> shapes;
    _tile_loadconfig(&shapes);
  }
  static INLAY_INLINE void close_tiles() noexcept { _tile_release(); }

  // The intrinsics of gcc take a stride of type long, which has 32 bits on Windows: no valid part of an address.
  template <int tile>
  static INLAY_INLINE void load_tile(const void* from, std::int64_t stride) noexcept {
    __asm__ volatile("tileloadd (%0,%1), %%tmm%c2" ::"r"(from), "r"(stride), "i"(tile) : "memory");
  }
  template <int tile>
  static INLAY_INLINE void store_tile(void* to, std::int64_t stride) noexcept {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1)" ::"r"(to), "r"(stride), "i"(tile) : "memory");
  }

  // The products of one part of a block, exactly. Two sets of registers let one be filled while the other is at work.
  template <int set>
  static INLAY_INLINE void dot(const std::int8_t (*x)[block_columns], const Quad* codes,
                               std::int32_t (&totals)[16][16]) noexcept {
    load_tile<set>(x, block_columns);
    load_tile<2 + set>(codes, sizeof(Quad));
    if constexpr (set == 0) {
      _tile_zero(4);
      _tile_dpbssd(4, 0, 2);
    } else {
      _tile_zero(5);
      _tile_dpbssd(5, 1, 3);
    }
    store_tile<4 + set>(totals, sizeof totals[0]);
  }
};
#endif

}  // namespace isa
}  // namespace
}  // namespace inlay::cpu
