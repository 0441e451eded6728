// The codes of one row of a block, four columns a word: read from the file's layouts, written to the packed one.
#pragma once

#include <cstring>

#include "cpu/packed.hpp"
#include "cpu/simd/transpose.hpp"

namespace inlay::cpu {

// Whether a scale is a number: others would turn whole rows into NaN.
inline bool is_finite(std::uint16_t half) noexcept { return (half & 0x7C00) != 0x7C00; }

inline std::uint32_t word(const std::uint8_t* bytes) noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// `mask` in every byte.
constexpr std::uint32_t each(std::uint32_t mask) noexcept { return mask * 0x01010101u; }

// The codes of a block, four columns a word: quad q in word q.
template <class Word>
struct Codes {
  Word quads[block_quads];

  Codes field(int right, std::uint32_t mask) const noexcept {
    Codes codes;
    INLAY_UNROLL for (int q = 0; q < block_quads; ++q) codes.quads[q] = quads[q] >> right & mask;
    return codes;
  }
};

// What reads 32 bytes as words: of one row, or at the same place in four.
struct OneRow {
  Codes<std::uint32_t> operator()(const std::uint8_t* bytes) const noexcept {
    Codes<std::uint32_t> codes;
    std::memcpy(codes.quads, bytes, sizeof codes.quads);
    return codes;
  }
};
struct FourRows {
  std::int64_t row_bytes;
  Codes<Words> operator()(const std::uint8_t* bytes) const noexcept {
    Codes<Words> codes;
    INLAY_UNROLL for (int first = 0; first < block_quads; first += 4) {
      Words rows[4];
      INLAY_UNROLL for (int i = 0; i < 4; ++i) rows[i] = load_vector<Words>(bytes + i * row_bytes + first * 4);
      transpose(rows, [&](int i) { return &codes.quads[first + i]; });
    }
    return codes;
  }
};

template <class Read>
auto codes_by_quad(Read&& read) noexcept {
  Codes<decltype(read(0))> codes;
  INLAY_UNROLL for (int q = 0; q < block_quads; ++q) codes.quads[q] = read(q);
  return codes;
}

// ---- writing row r of a block, or rows r to r + 3
template <class Word>
void put_word(Quad& quad, int r, Word value) noexcept {
  std::memcpy(quad[r], &value, sizeof value);
}

template <class Word>
void put_nibbles(Quad (&nibbles)[4], int r, const Codes<Word>& codes) noexcept {
  INLAY_UNROLL for (int v = 0; v < 4; ++v)
      put_word(nibbles[v], r, (codes.quads[v] & each(15)) | (codes.quads[v + 4] & each(15)) << 4);
}
// Bits `from` and `from` + 1 of the codes.
template <class Word>
void put_pairs(Quad (&pairs)[2], int r, const Codes<Word>& codes, int from) noexcept {
  INLAY_UNROLL for (int p = 0; p < 2; ++p) {
    Word value = {};
    INLAY_UNROLL for (int s = 0; s < 4; ++s) value |= (codes.quads[4 * p + s] >> from & each(3)) << 2 * s;
    put_word(pairs[p], r, value);
  }
}
template <class Word>
void put_bits(Quad& bits, int r, const Codes<Word>& codes, int from) noexcept {
  Word value = {};
  INLAY_UNROLL for (int q = 0; q < block_quads; ++q) value |= (codes.quads[q] >> from & each(1)) << q;
  put_word(bits, r, value);
}

// ---- reading the file's blocks
// 16 bytes with columns 0-15 in the low nibbles and 16-31 in the high ones lie as the packed form has them.
inline void copy_nibbles(Quad (&nibbles)[4], int r, const std::uint8_t* bytes) noexcept {
  for (int v = 0; v < 4; ++v) put_word(nibbles[v], r, word(bytes + 4 * v));
}
// Bit i of `bits` for column i.
inline auto single_bits(const std::uint8_t* bits) noexcept {
  return codes_by_quad([=](int q) { return ((word(bits) >> 4 * q & 15) * 0x00204081u) & each(1); });
}
// Block j of 256 values: 32 bytes hold the same column of several blocks.
template <class Read>
auto planes(Read read, const std::uint8_t* bytes, int j, int bits) noexcept {
  const int blocks = 8 / bits;
  return read(bytes + j / blocks * 32).field(j % blocks * bits, each((1u << bits) - 1));
}
inline std::uint32_t planes(const std::uint8_t* bytes, int j, int bits, int q) noexcept {
  const int blocks = 8 / bits;
  return word(bytes + j / blocks * 32 + 4 * q) >> j % blocks * bits & each((1u << bits) - 1);
}

}  // namespace inlay::cpu
