// The file's smaller blocks as rows of their packed forms: one row, or four at once.
#pragma once

#include <array>
#include <type_traits>

#include "base/half.hpp"
#include "cpu/pack_codes.hpp"
#include "gguf/bits.hpp"
#include "gguf/blocks.hpp"

namespace inlay::cpu {

// ---- blocks of 32 values, whose nibbles lie as the packed form has them
template <class Block, class Read>
INLAY_INLINE void put_scales(const Block& from, auto& to, int r, Read read) noexcept {
  read.rows(from, r, [&](const Block& row, int r) { to.scales[r] = row.scale; });
}
template <class Block, class Read>
INLAY_INLINE void put_minima(const Block& from, auto& to, int r, Read read) noexcept {
  put_scales(from, to, r, read);
  read.rows(from, r, [&](const Block& row, int r) { to.minima[r] = row.minimum; });
}

template <class Block, class Read>
INLAY_INLINE void pack_block(const Block& from, PackedQ4_0& to, int r, Read read) noexcept {  // Q4_0 and IQ4_NL
  put_words(to.nibbles, r, read.template words<4>(from.codes));
  put_scales(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ4_1& from, PackedQ4_1& to, int r, Read read) noexcept {
  put_words(to.nibbles, r, read.template words<4>(from.codes));
  put_minima(from, to, r, read);
}

template <class Read>
INLAY_INLINE void put_five_bits(const auto& from, auto& to, int r, Read read) noexcept {
  put_words(to.nibbles, r, read.template words<4>(from.codes));
  put_word(to.bits, r, bits_by_quad(read.template words<1>(from.high).at[0]));
}
template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ5_0& from, PackedQ5_0& to, int r, Read read) noexcept {
  put_five_bits(from, to, r, read);
  put_scales(from, to, r, read);
}
template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ5_1& from, PackedQ5_1& to, int r, Read read) noexcept {
  put_five_bits(from, to, r, read);
  put_minima(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ8_0& from, PackedQ8_0& to, int r, Read read) noexcept {
  put_words(to.codes, r, read.template words<8>(from.codes));
  put_scales(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockMXFP4& from, PackedMXFP4& to, int r, Read read) noexcept {
  put_words(to.nibbles, r, read.template words<4>(from.codes));
  read.rows(from, r, [&](const gguf::BlockMXFP4& row, int r) {
    // 2^(exponent - 128), for the codes are doubled; the two smallest are denormal.
    const int exponent = row.exponent;
    to.scales[r] = static_cast<std::uint16_t>(exponent > 1 ? (exponent - 1) << 7 : 0x20 << exponent);
  });
}

// ---- other small blocks
template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ2_0& from, PackedTernary<2>& to, int r, Read read) noexcept {
  const auto codes = read.template words<4>(from.codes);
  for (int i = 0; i < 4; ++i) put_word(to.pairs[i / 2][i % 2], r, pairs_by_quad(codes.at[i]));
  put_scales(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ1_0& from, PackedTernary<4>& to, int r, Read read) noexcept {
  const auto bits = read.template words<4>(from.bits);
  for (int j = 0; j < 4; ++j) {  // a set bit is 2, a clear one 0
    const auto both = bits_by_pair(bits.at[j]);
    put_word(to.pairs[j][0], r, (both & each(0x55)) << 1);
    put_word(to.pairs[j][1], r, both & each(0xAA));
  }
  put_scales(from, to, r, read);
}

// Floats of eight bits as halves, which hold them and their halves exactly: the codes are doubled.
inline constexpr auto halved_scales = [] {
  std::array<std::uint16_t, 256> halves = {};
  for (int i = 0; i < 256; ++i) halves[i] = base::float_to_half(gguf::halved_fp8(static_cast<std::uint8_t>(i)));
  return halves;
}();

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockNVFP4& from, PackedNVFP4& to, int r, Read read) noexcept {
  const auto codes = read.template words<8>(from.codes);
  for (int i = 0; i < 4; ++i) {  // eight bytes hold 16 columns, the first eight in low nibbles
    std::remove_cvref_t<decltype(codes.at[0])> words[] = {codes.at[i / 2 * 4 + i % 2], codes.at[i / 2 * 4 + i % 2 + 2]};
    turn_fields<4>(words);
    for (int high = 0; high < 2; ++high) put_word(to.blocks[i / 2].nibbles[i % 2 + 2 * high], r, words[high]);
  }
  read.rows(from, r, [&](const gguf::BlockNVFP4& row, int r) {
    for (int i = 0; i < 4; ++i) to.blocks[i / 2].scales[i % 2][r] = halved_scales[row.scales[i]];
  });
}

inline void pack_block(const float& from, PackedF32& to, int r, OneRow) noexcept { to.values[r] = from; }
inline void pack_block(const gguf::Half& from, PackedHalf& to, int r, OneRow) noexcept { to.values[r] = from; }

}  // namespace inlay::cpu
