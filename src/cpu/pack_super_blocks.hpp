// The file's super-blocks, of 256 values, as rows of their packed forms: one row, or four at once.
#pragma once

#include <cstddef>
#include <type_traits>

#include "cpu/pack_blocks.hpp"

namespace inlay::cpu {

// Signed numbers of six bits, less 32, as bytes.
template <class Word>
INLAY_INLINE Word less_32(Word six_bits) noexcept {
  const Word flipped = six_bits ^ each(32), sign = flipped & each(32);
  return flipped | sign << 1 | sign << 2;
}

template <class Block, class Read>
INLAY_INLINE void put_negative_minima(const Block& from, auto& to, int r, Read read) noexcept {
  read.rows(from, r, [&](const Block& row, int r) {
    to.scales[r] = row.scale;
    to.minima[r] = row.minimum ^ 0x8000;  // it is subtracted
  });
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ2_K& from, PackedQ2_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; j += 4) {
    put_planes<2>(read.template words<8>(from.codes + 8 * j), r,
                  [&](int k, int p) -> Quad& { return to.blocks[j + k].pairs[p]; });
  }
  put_part_steps(read.template words<4>(from.scales), to, r);
  put_negative_minima(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ3_K& from, PackedQ3_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; j += 4) {
    put_planes<2>(read.template words<8>(from.codes + 8 * j), r,
                  [&](int k, int p) -> Quad& { return to.blocks[j + k].pairs[p]; });
  }
  put_planes<1>(read.template words<8>(from.high), r, [&](int j, int) -> Quad& { return to.blocks[j].bits; });
  // the last of the codes, four bits of each step, two bits of each
  const auto* tail = reinterpret_cast<const std::uint8_t*>(&from) + offsetof(gguf::BlockQ3_K, scales);
  const auto [codes, a, b, c] = read.template words<4>(tail - 4).at;
  put_part_steps(WordsOf<std::remove_cvref_t<decltype(a)>, 4>{less_32((a & each(15)) | (c & each(3)) << 4),
                                                              less_32((b & each(15)) | (c >> 2 & each(3)) << 4),
                                                              less_32((a >> 4 & each(15)) | (c >> 4 & each(3)) << 4),
                                                              less_32((b >> 4 & each(15)) | (c >> 6 & each(3)) << 4)},
                 to, r);
  put_scales(from, to, r, read);
}

// What Q4_K and Q5_K share: their nibbles, and six bits of scale and of minimum for each block.
template <class Read>
INLAY_INLINE void put_nibbles_and_steps(const auto& from, auto& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; j += 2) {
    put_planes<4>(read.template words<8>(from.codes + 16 * j), r,
                  [&](int k, int v) -> Quad& { return to.blocks[j + k].nibbles[v]; });
  }
  const auto [halves, a, b, c] = read.template words<4>(&from).at;
  const auto scale = [&](int j) { return to.blocks[j].steps; };
  const auto minimum = [&](int j) { return to.blocks[j].minimum_steps; };
  put_steps(a & each(63), 0, r, scale);
  put_steps((c & each(15)) | (a >> 2 & each(48)), 1, r, scale);
  put_steps(b & each(63), 0, r, minimum);
  put_steps((c >> 4 & each(15)) | (b >> 2 & each(48)), 1, r, minimum);
  put_negative_minima(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ4_K& from, PackedQ4_K& to, int r, Read read) noexcept {
  put_nibbles_and_steps(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ5_K& from, PackedQ5_K& to, int r, Read read) noexcept {
  put_nibbles_and_steps(from, to, r, read);
  put_planes<1>(read.template words<8>(from.high), r, [&](int j, int) -> Quad& { return to.blocks[j].bits; });
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockQ6_K& from, PackedQ6_K& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; j += 4) {
    for (int k = 0; k < 2; ++k) {  // 64 bytes hold four blocks: two in the low nibbles, then two in the high ones
      put_planes<4>(read.template words<8>(from.codes + 16 * j + 32 * k), r,
                    [&](int high, int v) -> Quad& { return to.blocks[j + k + 2 * high].nibbles[v]; });
    }
    put_planes<2>(read.template words<8>(from.high + 8 * j), r,
                  [&](int k, int p) -> Quad& { return to.blocks[j + k].pairs[p]; });
  }
  put_part_steps(read.template words<4>(from.scales), to, r);
  put_scales(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockIQ4_XS& from, PackedIQ4_XS& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; ++j)
    put_words(to.blocks[j].nibbles, r, read.template words<4>(from.codes + 16 * j));
  const auto [halves, low, codes, more] = read.template words<4>(&from).at;
  const auto spread = nibbles_of(halves >> 16);  // four bits for each two blocks
  const auto even = less_32((low & each(15)) | (spread & each(3)) << 4);
  const auto odd = less_32((low >> 4 & each(15)) | (spread & each(12)) << 2);
  put_bytes(even, r, [&](int i) { return reinterpret_cast<std::uint8_t*>(to.blocks[2 * i].steps); });
  put_bytes(odd, r, [&](int i) { return reinterpret_cast<std::uint8_t*>(to.blocks[2 * i + 1].steps); });
  put_scales(from, to, r, read);
}

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockTQ2_0& from, PackedTernary<8>& to, int r, Read read) noexcept {
  for (int j = 0; j < super_blocks; j += 4) {
    put_planes<2>(read.template words<8>(from.codes + 8 * j), r,
                  [&](int k, int p) -> Quad& { return to.pairs[j + k][p]; });
  }
  put_scales(from, to, r, read);
}

// The digits in base 3 of every byte, the first one first: it is the carry of three times the byte.
template <class Word>
struct Trits {
  Word even, odd;  // bytes

  explicit Trits(Word bytes) noexcept : even(bytes & 0x00FF00FFu), odd(bytes >> 8 & 0x00FF00FFu) {}
  Word next() noexcept {
    even += even << 1, odd += odd << 1;
    const Word digits = (even >> 8 & 0x00FF00FFu) | (odd & 0xFF00FF00u);
    even &= 0x00FF00FFu, odd &= 0x00FF00FFu;
    return digits;
  }
};

template <class Read>
INLAY_INLINE void pack_block(const gguf::BlockTQ1_0& from, PackedTernary<8>& to, int r, Read read) noexcept {
  using Word = std::remove_cvref_t<decltype(read.template words<4>(from.codes).at[0])>;
  WordsOf<Word> blocks[super_blocks];
  const auto first = read.template words<8>(from.codes);
  for (int q = 0; q < 8; ++q) {  // five blocks
    Trits<Word> trits(first.at[q]);
    for (int j = 0; j < 5; ++j) blocks[j].at[q] = trits.next();
  }
  const auto second = read.template words<4>(from.codes + 32);
  for (int q = 0; q < 4; ++q) {  // five halves of blocks
    Trits<Word> trits(second.at[q]);
    for (int half = 10; half < 15; ++half) blocks[half / 2].at[half % 2 * 4 + q] = trits.next();
  }
  Trits<Word> trits(read.template words<1>(from.tail).at[0]);
  for (int q = 4; q < 8; ++q) blocks[7].at[q] = trits.next();
  for (int j = 0; j < super_blocks; ++j) put_pairs(to.pairs[j], r, blocks[j]);
  put_scales(from, to, r, read);
}

}  // namespace inlay::cpu
