// The types whose codes are points of a codebook, as rows of a packed form that names each value: IQ1, IQ2 and IQ3.
// Points themselves would have to be looked up from memory, eight values at a time, in every product.
#pragma once

#include "cpu/pack_codes.hpp"
#include "gguf/bits.hpp"
#include "gguf/iq_tables.hpp"

namespace inlay::cpu {

// Seven bits of each byte with an eighth that makes the number of those set even.
template <class Word>
INLAY_INLINE Word even_in_bytes(Word sevens) noexcept {
  Word parity = sevens ^ sevens >> 4;
  parity ^= parity >> 2;
  parity ^= parity >> 1;
  return sevens | (parity & each(1)) << 7;
}
// The same of four times seven bits that lie behind one another.
template <class Word>
INLAY_INLINE Word even_signs(Word word) noexcept {
  const Word low = (word & 0x7Fu) | (word & 0x3F80u) << 1, high = (word & 0x1FC000u) << 2 | (word & 0xFE00000u) << 3;
  return even_in_bytes<Word>(low | high);
}
// A byte's value in the next one, too.
template <class Word>
INLAY_INLINE Word twice(Word bytes) noexcept {
  return bytes | bytes << 8;
}

// ---- what each type says of its rows: the point of some columns, a flag for each of 32, a byte of step for 16 or 32
inline unsigned point_of(const gguf::BlockIQ2_XXS& row, int c) noexcept {
  return gguf::iq2_xxs_points[row.parts[c / 4].indices[c % 4]];
}
template <class Read>
INLAY_INLINE auto signs_of(const gguf::BlockIQ2_XXS& from, int j, Read read) noexcept {
  return read.template words<1>(from.parts[j].signs).at[0];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ2_XXS& from, int j, Read read) noexcept {
  return even_signs(signs_of(from, j, read));
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ2_XXS& from, Read read) noexcept {
  const auto four = [&](int j) {
    return twice(signs_of(from, j, read) >> 28 | signs_of(from, j + 1, read) >> 28 << 16);
  };
  return WordsOf<decltype(four(0)), 4>{four(0), four(2), four(4), four(6)};
}

// Of 16 nibbles.
template <class Read>
INLAY_INLINE auto steps_in(const std::uint8_t (&scales)[8], Read read) noexcept {
  const auto low = read.template words<1>(scales).at[0], high = read.template words<1>(scales + 4).at[0];
  return WordsOf<std::remove_const_t<decltype(low)>, 4>{nibbles_of(low), nibbles_of(low >> 16), nibbles_of(high),
                                                        nibbles_of(high >> 16)};
}

inline unsigned point_of(const gguf::BlockIQ2_XS& row, int c) noexcept {
  return gguf::iq2_xs_points[row.points[c] & 511];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ2_XS& from, int j, Read read) noexcept {
  const auto low = read.template words<1>(from.points + 4 * j).at[0];
  const auto high = read.template words<1>(from.points + 4 * j + 2).at[0];
  return even_in_bytes((low >> 9 & 0x7Fu) | (low >> 17 & 0x7F00u) | (high << 7 & 0x7F0000u) |
                       (high >> 1 & 0x7F000000u));
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ2_XS& from, Read read) noexcept {
  return steps_in(from.scales, read);
}

inline unsigned point_of(const gguf::BlockIQ2_S& row, int c) noexcept {
  return gguf::iq2_s_points[row.indices[c] | (row.high[c / 4] >> 2 * (c % 4) & 3) << 8];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ2_S& from, int j, Read read) noexcept {
  return read.template words<1>(from.signs + 4 * j).at[0];
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ2_S& from, Read read) noexcept {
  return steps_in(from.scales, read);
}

inline unsigned point_of(const gguf::BlockIQ1_S& row, int c) noexcept {
  return gguf::iq1_points[row.indices[c] | (row.high[c / 4] >> 3 * (c % 4) & 7) << 8];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ1_S& from, int j, Read read) noexcept {
  return -(read.template words<1>(from.high + j / 2 * 2).at[0] >> (16 * (j % 2) + 15) & 1u);
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ1_S& from, Read read) noexcept {
  const auto four = [&](int j) { return twice(read.template words<1>(from.high + j).at[0] >> 12 & 0x00070007u); };
  return WordsOf<decltype(four(0)), 4>{four(0), four(2), four(4), four(6)};
}

inline unsigned point_of(const gguf::BlockIQ1_M& row, int c) noexcept {
  const auto high = static_cast<unsigned>(gguf::nibble(row.high[c / 2], c % 2));
  return gguf::iq1_points[row.indices[c] | (high & 7) << 8];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ1_M& from, int j, Read read) noexcept {
  const auto ones = nibbles_of(read.template words<1>(from.high + j / 2 * 4).at[0] >> 16 * (j % 2)) >> 3 & each(1);
  return (ones << 8) - ones;
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ1_M& from, Read read) noexcept {
  const auto threes = [](auto word) {
    return (word & 7u) | (word & 0x38u) << 5 | (word & 0x1C0u) << 10 | (word & 0xE00u) << 15;
  };
  const auto low = read.template words<1>(from.scales).at[0], high = read.template words<1>(from.scales + 2).at[0];
  return WordsOf<decltype(threes(low)), 4>{threes(low), threes(low >> 16), threes(high), threes(high >> 16)};
}

inline unsigned point_of(const gguf::BlockIQ3_XXS& row, int c) noexcept { return gguf::iq3_xxs_points[row.indices[c]]; }
template <class Read>
INLAY_INLINE auto signs_of(const gguf::BlockIQ3_XXS& from, int j, Read read) noexcept {
  return read.template words<1>(from.signs[j]).at[0];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ3_XXS& from, int j, Read read) noexcept {
  return even_signs(signs_of(from, j, read));
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ3_XXS& from, Read read) noexcept {
  const auto four = [&](int j) {
    const auto step = [&](int i) { return signs_of(from, j + i, read) >> 28; };
    return step(0) | step(1) << 8 | step(2) << 16 | step(3) << 24;
  };
  return WordsOf<decltype(four(0)), 2>{four(0), four(4)};
}

inline unsigned point_of(const gguf::BlockIQ3_S& row, int c) noexcept {
  return gguf::iq3_s_points[row.indices[c] | gguf::bit(row.high, c) << 8];
}
template <class Read>
INLAY_INLINE auto flags_of(const gguf::BlockIQ3_S& from, int j, Read read) noexcept {
  return read.template words<1>(from.signs + 4 * j).at[0];
}
template <class Read>
INLAY_INLINE auto steps_of(const gguf::BlockIQ3_S& from, Read read) noexcept {
  const auto nibbles = read.template words<1>(from.scales).at[0];
  return WordsOf<std::remove_const_t<decltype(nibbles)>, 2>{nibbles_of(nibbles), nibbles_of(nibbles >> 16)};
}

template <class Block>
concept NamesPoints = requires(const Block& row) {
  point_of(row, 0);
};

// ---- rows of the packed forms
template <class Block>
std::uint16_t scale_of(const Block& row) noexcept {
  return row.scale;
}
inline std::uint16_t scale_of(const gguf::BlockIQ1_M& row) noexcept {
  unsigned scale = 0;
  for (int i = 0; i < 4; ++i) scale |= (row.scales[i] >> 12u) << 4 * i;
  return static_cast<std::uint16_t>(scale);
}

// The points of columns c and d, the second one in the upper half.
template <class Block, class Read>
INLAY_INLINE auto two_points(const Block& from, int c, int d, Read read) noexcept {
  return read.halves(from, c, d, [](const Block& row, int c) INLAY_ALWAYS { return point_of(row, c); });
}

template <class Word>
INLAY_INLINE Word odd(Word steps) noexcept {
  return steps << 1 | each(1);
}

// A point tells two bits of each of eight columns.
template <NamesPoints Block, class Read>
INLAY_INLINE void pack_block(const Block& from, PackedQ3_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    INLAY_UNROLL for (int half = 0; half < 2; ++half) {
      const int c = 4 * j + 2 * half;
      put_word(to.blocks[j].pairs[half], r, pairs_by_quad(two_points(from, c, c + 1, read)));
    }
    put_word(to.blocks[j].bits, r, bits_by_quad(flags_of(from, j, read)));
  }
  auto steps = steps_of(from, read);
  INLAY_UNROLL for (auto& four : steps.at) four = odd(four);
  put_part_steps(steps, to, r);
  read.rows(from, r, [&](const Block& row, int r) { to.scales[r] = scale_of(row); });
}

// Three bits and a flag for each of four columns, a byte each.
template <class Word>
INLAY_INLINE Word quad_of(Word point, Word flags) noexcept {
  const Word twos = (point | point << 10) & 0x003F003Fu;
  const Word signs = flags | flags << 7 | flags << 14 | flags << 21;
  return ((twos | twos << 5) & each(7)) | (signs & each(1)) << 3;
}
// A point tells three bits of each of four columns.
template <NamesPoints Block, class Read>
INLAY_INLINE void pack_block(const Block& from, PackedIQ4_XS& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    const auto flags = flags_of(from, j, read);
    INLAY_UNROLL for (int v = 0; v < 4; ++v) {
      const auto points = two_points(from, 8 * j + v, 8 * j + v + 4, read);
      const auto low = quad_of(points & 0xFFFFu, flags >> 4 * v & 15u);
      const auto high = quad_of(points >> 16, flags >> (4 * v + 16) & 15u);
      put_word(to.blocks[j].nibbles[v], r, low | high << 4);
    }
  }
  const auto steps = steps_of(from, read);
  const auto place = [&](int j) { return reinterpret_cast<std::uint8_t*>(to.blocks[j].steps); };
  INLAY_UNROLL for (int half = 0; half < 2; ++half) put_steps(odd(steps.at[half]), half, r, place);
  read.rows(from, r, [&](const Block& row, int r) { to.scales[r] = scale_of(row); });
}

}  // namespace inlay::cpu
