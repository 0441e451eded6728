// The types whose codes are points of a codebook, as one row of a packed form that names each value: IQ1, IQ2 and IQ3.
// Points themselves would have to be looked up from memory, eight values at a time, in every product.
#pragma once

#include "cpu/pack_codes.hpp"
#include "gguf/bits.hpp"
#include "gguf/iq_tables.hpp"

namespace inlay::cpu {

// Which value of a super-block each column holds: a number of its level, and its sign or shift in the bit above.
struct Levels {
  std::uint8_t of[super_blocks * block_columns];

  void put_point(int first, std::uint16_t point, int count, unsigned flags) noexcept {
    const int bits = count == 8 ? 2 : 3;
    for (int i = 0; i < count; ++i) {
      const unsigned level = point >> bits * i & ((1u << bits) - 1);
      of[first + i] = static_cast<std::uint8_t>(level | (flags >> i & 1) << bits);
    }
  }
  auto block(int j) const noexcept {
    return codes_by_quad([&](int q) { return word(of + block_columns * j + 4 * q); });
  }
};

inline void put_levels(const Levels& levels, PackedQ3_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_pairs(to.blocks[j].pairs, r, levels.block(j), 0);
    put_bits(to.blocks[j].bits, r, levels.block(j), 2);
  }
}
inline void put_levels(const Levels& levels, PackedIQ4_XS& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) put_nibbles(to.blocks[j].nibbles, r, levels.block(j));
}

constexpr std::int8_t odd(unsigned step) noexcept { return static_cast<std::int8_t>(2 * step + 1); }

inline bool pack_block(const gguf::BlockIQ2_XXS& from, PackedQ3_K& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 32; ++c) {
    const std::uint32_t signs = gguf::load_u32(from.parts[c / 4].signs);
    levels.put_point(8 * c, gguf::iq2_xxs_points[from.parts[c / 4].indices[c % 4]], 8,
                     gguf::even_signs(signs >> 7 * (c % 4) & 127));
    to.blocks[c / 4].steps[c / 2 % 2][r] = odd(signs >> 28);
  }
  put_levels(levels, to, r);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockIQ2_XS& from, PackedQ3_K& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 32; ++c) {
    levels.put_point(8 * c, gguf::iq2_xs_points[from.points[c] & 511], 8, gguf::even_signs(from.points[c] >> 9));
    to.blocks[c / 4].steps[c / 2 % 2][r] = odd(static_cast<unsigned>(gguf::nibble(from.scales[c / 4], c / 2 % 2)));
  }
  put_levels(levels, to, r);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockIQ2_S& from, PackedQ3_K& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 32; ++c) {
    const int index = from.indices[c] | (from.high[c / 4] >> 2 * (c % 4) & 3) << 8;
    levels.put_point(8 * c, gguf::iq2_s_points[index], 8, from.signs[c]);
    to.blocks[c / 4].steps[c / 2 % 2][r] = odd(static_cast<unsigned>(gguf::nibble(from.scales[c / 4], c / 2 % 2)));
  }
  put_levels(levels, to, r);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockIQ1_S& from, PackedQ3_K& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 32; ++c) {
    const unsigned high = from.high[c / 4];
    levels.put_point(8 * c, gguf::iq1_points[from.indices[c] | (high >> 3 * (c % 4) & 7) << 8], 8,
                     high >> 15 ? 255 : 0);
    to.blocks[c / 4].steps[c / 2 % 2][r] = odd(high >> 12 & 7);
  }
  put_levels(levels, to, r);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockIQ1_M& from, PackedQ3_K& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 32; ++c) {
    const unsigned high = static_cast<unsigned>(gguf::nibble(from.high[c / 2], c % 2));
    levels.put_point(8 * c, gguf::iq1_points[from.indices[c] | (high & 7) << 8], 8, high & 8 ? 255 : 0);
    to.blocks[c / 4].steps[c / 2 % 2][r] = odd(from.scales[c / 8] >> 3 * (c / 2 % 4) & 7);
  }
  put_levels(levels, to, r);
  unsigned scale = 0;
  for (int i = 0; i < 4; ++i) scale |= (from.scales[i] >> 12u) << 4 * i;
  to.scales[r] = static_cast<std::uint16_t>(scale);
  return is_finite(to.scales[r]);
}

inline bool pack_block(const gguf::BlockIQ3_XXS& from, PackedIQ4_XS& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 64; ++c) {
    const std::uint32_t signs = gguf::load_u32(from.signs[c / 8]);
    levels.put_point(4 * c, gguf::iq3_xxs_points[from.indices[c]], 4,
                     gguf::even_signs(signs >> 7 * (c / 2 % 4) & 127) >> 4 * (c % 2));
    to.blocks[c / 8].steps[r] = odd(signs >> 28);
  }
  put_levels(levels, to, r);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockIQ3_S& from, PackedIQ4_XS& to, int r) noexcept {
  Levels levels;
  for (int c = 0; c < 64; ++c) {
    levels.put_point(4 * c, gguf::iq3_s_points[from.indices[c] | gguf::bit(from.high, c) << 8], 4,
                     static_cast<unsigned>(gguf::nibble(from.signs[c / 2], c % 2)));
    to.blocks[c / 8].steps[r] = odd(static_cast<unsigned>(gguf::nibble(from.scales[c / 16], c / 8 % 2)));
  }
  put_levels(levels, to, r);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

}  // namespace inlay::cpu
