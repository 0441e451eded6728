// Each type of the file's blocks as one row of its packed form.
#pragma once

#include "base/half.hpp"
#include "cpu/pack_codes.hpp"
#include "gguf/bits.hpp"
#include "gguf/blocks.hpp"

namespace inlay::cpu {

// A file's block as row r of one element of the stream; false where a scale is no number.
template <class Block>
bool pack_block(const Block& from, PackedQ4_0& to, int r) noexcept {  // Q4_0 and IQ4_NL
  copy_nibbles(to.nibbles, r, from.codes);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockQ4_1& from, PackedQ4_1& to, int r) noexcept {
  copy_nibbles(to.nibbles, r, from.codes);
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum;
  return is_finite(from.scale) && is_finite(from.minimum);
}

inline bool pack_block(const gguf::BlockQ5_0& from, PackedQ5_0& to, int r) noexcept {
  copy_nibbles(to.nibbles, r, from.codes);
  put_bits(to.bits, r, single_bits(from.high), 0);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockQ5_1& from, PackedQ5_1& to, int r) noexcept {
  copy_nibbles(to.nibbles, r, from.codes);
  put_bits(to.bits, r, single_bits(from.high), 0);
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum;
  return is_finite(from.scale) && is_finite(from.minimum);
}

inline bool pack_block(const gguf::BlockQ8_0& from, PackedQ8_0& to, int r) noexcept {
  for (int q = 0; q < block_quads; ++q) std::memcpy(to.codes[q][r], from.codes + 4 * q, 4);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockQ2_K& from, PackedQ2_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_pairs(to.blocks[j].pairs, r, codes_by_quad([&](int q) { return planes(from.codes, j, 2, q); }), 0);
    for (int part = 0; part < 2; ++part) to.blocks[j].steps[part][r] = from.scales[2 * j + part];
  }
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum ^ 0x8000;  // it is subtracted
  return is_finite(from.scale) && is_finite(from.minimum);
}

inline bool pack_block(const gguf::BlockQ3_K& from, PackedQ3_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    const auto codes =
        codes_by_quad([&](int q) { return planes(from.codes, j, 2, q) | planes(from.high, j, 1, q) << 2; });
    put_pairs(to.blocks[j].pairs, r, codes, 0);
    put_bits(to.blocks[j].bits, r, codes, 2);
  }
  for (int j = 0; j < 16; ++j) {
    const int low = j < 8 ? from.scales[j] & 15 : from.scales[j - 8] >> 4;
    const int high = from.scales[8 + j % 4] >> j / 4 * 2 & 3;
    to.blocks[j / 2].steps[j % 2][r] = static_cast<std::int8_t>(low + 16 * high - 32);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

// The scales and minima of Q4_K and Q5_K, six bits each for a block; false where those of the row are not finite.
template <class Block, class Packed>
bool put_scales(const Block& from, Packed& to, int r) noexcept {
  const auto& s = from.scales;
  for (int j = 0; j < super_blocks; ++j) {
    const int step = j < 4 ? s[j] & 63 : (s[j + 4] & 15) + 16 * (s[j - 4] >> 6);
    const int least = j < 4 ? s[j + 4] & 63 : (s[j + 4] >> 4) + 16 * (s[j] >> 6);
    to.blocks[j].steps[r] = static_cast<std::uint8_t>(step);
    to.blocks[j].minimum_steps[r] = static_cast<std::uint8_t>(least);
  }
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum ^ 0x8000;
  return is_finite(from.scale) && is_finite(from.minimum);
}

template <class Read>
void put_codes(const gguf::BlockQ4_K& from, PackedQ4_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_nibbles(to.blocks[j].nibbles, r, planes(read, from.codes, j, 4));
  }
}

template <class Read>
void put_codes(const gguf::BlockQ5_K& from, PackedQ5_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_nibbles(to.blocks[j].nibbles, r, planes(read, from.codes, j, 4));
    put_bits(to.blocks[j].bits, r, planes(read, from.high, j, 1), 0);
  }
}

template <class Read>
void put_codes(const gguf::BlockQ6_K& from, PackedQ6_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    // 64 bytes hold four blocks: two in the low nibbles, then two in the high ones
    const std::uint8_t* low = from.codes + j / 4 * 64 + j % 2 * 32;
    put_nibbles(to.blocks[j].nibbles, r, read(low).field(j / 2 % 2 * 4, each(15)));
    put_pairs(to.blocks[j].pairs, r, planes(read, from.high, j, 2), 0);
  }
}
inline bool put_scales(const gguf::BlockQ6_K& from, PackedQ6_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    for (int part = 0; part < 2; ++part) to.blocks[j].steps[part][r] = from.scales[2 * j + part];
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

// Types whose codes can be moved for four rows at once.
template <class Packed>
concept InFours =
    std::is_same_v<Packed, PackedQ4_K> || std::is_same_v<Packed, PackedQ5_K> || std::is_same_v<Packed, PackedQ6_K>;

template <class Block, InFours Packed>
bool pack_block(const Block& from, Packed& to, int r) noexcept {
  put_codes(from, to, r, OneRow());
  return put_scales(from, to, r);
}

inline bool pack_block(const gguf::BlockIQ4_XS& from, PackedIQ4_XS& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    copy_nibbles(to.blocks[j].nibbles, r, from.codes + 16 * j);
    const int low = from.scales_low[j / 2] >> j % 2 * 4 & 15, high = from.scales_high >> 2 * j & 3;
    to.blocks[j].steps[r] = static_cast<std::int8_t>(low + 16 * high - 32);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockMXFP4& from, PackedMXFP4& to, int r) noexcept {
  copy_nibbles(to.nibbles, r, from.codes);
  // 2^(exponent - 128), for the codes are doubled; the two smallest are denormal.
  to.scales[r] = static_cast<std::uint16_t>(from.exponent > 1 ? (from.exponent - 1) << 7 : 0x20 << from.exponent);
  return from.exponent != 255;
}

// The scales, floats of eight bits, become halves, which hold them and their halves exactly: the codes are doubled.
inline bool pack_block(const gguf::BlockNVFP4& from, PackedNVFP4& to, int r) noexcept {
  for (int j = 0; j < 2; ++j) {
    const Codes codes = codes_by_quad([&](int q) {  // 16 columns: eight bytes, the first eight columns in low nibbles
      const std::uint8_t* bytes = from.codes + 16 * j + q / 4 * 8 + q % 2 * 4;
      return word(bytes) >> q / 2 % 2 * 4 & each(15);
    });
    put_nibbles(to.blocks[j].nibbles, r, codes);
    for (int part = 0; part < 2; ++part)
      to.blocks[j].scales[part][r] = base::float_to_half(gguf::halved_fp8(from.scales[2 * j + part]));
  }
  return true;
}

inline bool pack_block(const gguf::BlockTQ2_0& from, PackedTernary<8>& to, int r) noexcept {
  for (int j = 0; j < 8; ++j) {
    put_pairs(to.pairs[j], r, codes_by_quad([&](int q) { return planes(from.codes, j, 2, q); }), 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

// Value i of 256 in base 3: the digit n of a byte is the carry of byte * 3^n * 3.
inline unsigned trit(const gguf::BlockTQ1_0& from, int i) noexcept {
  constexpr unsigned powers[] = {1, 3, 9, 27, 81};
  const auto digit = [&](std::uint8_t byte, int n) { return (byte * powers[n] & 255) * 3 >> 8; };
  if (i < 160) return digit(from.codes[i % 32], i / 32);
  if (i < 240) return digit(from.codes[32 + (i - 160) % 16], (i - 160) / 16);
  return digit(from.tail[(i - 240) % 4], (i - 240) / 4);
}

inline bool pack_block(const gguf::BlockTQ1_0& from, PackedTernary<8>& to, int r) noexcept {
  for (int j = 0; j < 8; ++j) {
    const auto codes = codes_by_quad([&](int q) {
      std::uint32_t quad = 0;
      for (int c = 0; c < 4; ++c) quad |= trit(from, 32 * j + 4 * q + c) << 8 * c;
      return quad;
    });
    put_pairs(to.pairs[j], r, codes, 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockQ2_0& from, PackedTernary<2>& to, int r) noexcept {
  for (int j = 0; j < 2; ++j) {
    const auto codes = codes_by_quad([&](int q) {  // a byte is a quad
      const std::uint32_t byte = from.codes[8 * j + q];
      return (byte | byte << 6 | byte << 12 | byte << 18) & each(3);
    });
    put_pairs(to.pairs[j], r, codes, 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const gguf::BlockQ1_0& from, PackedTernary<4>& to, int r) noexcept {
  for (int j = 0; j < 4; ++j) {
    const auto codes = codes_by_quad([&](int q) {  // a set bit is 2, a clear one 0
      const std::uint32_t bits = from.bits[4 * j + q / 2] >> q % 2 * 4 & 15;
      return (bits * 0x00204081u & each(1)) << 1;
    });
    put_pairs(to.pairs[j], r, codes, 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

inline bool pack_block(const float& from, PackedF32& to, int r) noexcept { return to.values[r] = from, true; }
inline bool pack_block(const gguf::Half& from, PackedHalf& to, int r) noexcept { return to.values[r] = from, true; }

}  // namespace inlay::cpu
