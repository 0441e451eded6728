// The codes of a block, four columns a word, of one row or of four at once: read from the file's layouts, written to
// the packed one.
#pragma once

#include <cstring>

#include "cpu/packed.hpp"
#include "cpu/simd/transpose.hpp"

namespace inlay::cpu {

inline std::uint32_t word(const void* bytes) noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// `mask` in every byte.
constexpr std::uint32_t each(std::uint32_t mask) noexcept { return mask * 0x01010101u; }

// n words; those of a block's codes have quad q in word q.
template <class Word, int n = block_quads>
struct WordsOf {
  Word at[n];
};

// What reads n words at `bytes`: of one row, or at the same place in four. `numbers` gives what number_of(block) says
// of each of these rows, `rows` calls act(block, row) for them.
struct OneRow {
  template <int n>
  auto words(const void* bytes) const noexcept {
    WordsOf<std::uint32_t, n> row;
    std::memcpy(row.at, bytes, sizeof row.at);
    return row;
  }
  template <class Block, class HalfOf>
  std::uint32_t halves(const Block& from, int low, int high, HalfOf&& half_of) const noexcept {
    return half_of(from, low) | std::uint32_t{half_of(from, high)} << 16;
  }
  template <class Block, class Act>
  void rows(const Block& from, int r, Act&& act) const noexcept {
    act(from, r);
  }
};
struct FourRows {
  std::int64_t row_bytes;

  template <int n>
  INLAY_INLINE auto words(const void* bytes) const noexcept {
    static_assert(n == 1 || n % 4 == 0);
    const auto* row = static_cast<const std::byte*>(bytes);
    WordsOf<Words, n> four;
    if constexpr (n == 1) {
      four.at[0] = Words{word(row), word(row + row_bytes), word(row + 2 * row_bytes), word(row + 3 * row_bytes)};
    } else {
      INLAY_UNROLL for (int first = 0; first < n; first += 4) {
        Words rows[4];
        INLAY_UNROLL for (int i = 0; i < 4; ++i) rows[i] = load_vector<Words>(row + i * row_bytes + first * 4);
        transpose(rows, [&](int i) { return &four.at[first + i]; });
      }
    }
    return four;
  }
  template <class Block, class HalfOf>
  INLAY_INLINE Words halves(const Block& from, int low, int high, HalfOf&& half_of) const noexcept {
    const auto half = [&](int i, int which)
                          INLAY_ALWAYS { return static_cast<std::uint16_t>(half_of(at(from, i), which)); };
    const ShortWords all = {half(0, low), half(0, high), half(1, low), half(1, high),
                            half(2, low), half(2, high), half(3, low), half(3, high)};
    return reinterpret_cast<Words>(all);
  }
  template <class Block, class Act>
  INLAY_INLINE void rows(const Block& from, int r, Act&& act) const noexcept {
    INLAY_UNROLL for (int i = 0; i < 4; ++i) act(at(from, i), r + i);
  }

 private:
  template <class Block>
  INLAY_INLINE const Block& at(const Block& from, int i) const noexcept {
    return *reinterpret_cast<const Block*>(reinterpret_cast<const std::byte*>(&from) + i * row_bytes);
  }
};

// The bits of a word of which such is true.
template <class Such>
constexpr std::uint32_t positions(Such such) noexcept {
  std::uint32_t bits = 0;
  for (int i = 0; i < 32; ++i) bits |= such(i) ? std::uint32_t{1} << i : 0;
  return bits;
}

// ---- writing row r of a block, or rows r to r + 3
template <class Word>
INLAY_INLINE void put_word(Quad& quad, int r, Word value) noexcept {
  std::memcpy(quad[r], &value, sizeof value);
}
template <class Word, int n>
INLAY_INLINE void put_words(Quad (&quads)[n], int r, const WordsOf<Word, n>& words) noexcept {
  INLAY_UNROLL for (int i = 0; i < n; ++i) put_word(quads[i], r, words.at[i]);
}

// Byte i to row r of the 16 bytes that to(i) gives.
template <class To>
INLAY_INLINE void put_bytes(std::uint32_t word, int r, const To& to) noexcept {
  for (int i = 0; i < 4; ++i) to(i)[r] = static_cast<std::uint8_t>(word >> 8 * i);
}
template <class To>
INLAY_INLINE void put_bytes(const Words& words, int r, const To& to) noexcept {
  const Words by_byte = transposed_bytes(words);
  INLAY_UNROLL for (int i = 0; i < 4; ++i) {
    const std::uint32_t of_rows = by_byte[i];
    std::memcpy(to(i) + r, &of_rows, sizeof of_rows);
  }
}

// A byte for each 16 columns.
template <class Word>
INLAY_INLINE void put_part_steps(const WordsOf<Word, 4>& steps, auto& to, int r) noexcept {
  INLAY_UNROLL for (int w = 0; w < 4; ++w) {
    put_bytes(steps.at[w], r,
              [&](int i) { return reinterpret_cast<std::uint8_t*>(to.blocks[2 * w + i / 2].steps[i % 2]); });
  }
}
// A byte for each 32 columns: `word` is the first or second half of them.
template <class Word, class To>
INLAY_INLINE void put_steps(Word word, int half, int r, const To& to) noexcept {
  put_bytes(word, r, [&](int i) { return to(4 * half + i); });
}

// The four nibbles of the lower half as bytes.
template <class Word>
INLAY_INLINE Word nibbles_of(Word word) noexcept {
  return (word & 0xFu) | (word & 0xF0u) << 4 | (word & 0xF00u) << 8 | (word & 0xF000u) << 12;
}

// Field i of word j becomes field j of word i, where a field has so many bits and there are as many words as a byte has
// fields.
template <int bits, class Word>
INLAY_INLINE void turn_fields(Word (&words)[8 / bits]) noexcept {
  constexpr int n = 8 / bits;
  unroll<(n > 4 ? 3 : n / 2)>([&](auto stage) INLAY_ALWAYS {
    constexpr int step = n >> (stage + 1);
    constexpr std::uint32_t lower = positions([](int i) { return i % 8 / bits % (2 * step) < step; });
    unroll<n>([&](auto i) INLAY_ALWAYS {
      if constexpr ((i & step) == 0) {
        const Word swap = (words[i] >> step * bits ^ words[i + step]) & lower;
        words[i + step] ^= swap;
        words[i] ^= swap << step * bits;
      }
    });
  });
}

// 32 bytes that hold the same column of 8 / bits blocks: those of block j as field i of the quad to(j, i).
template <int bits, class Word, class To>
INLAY_INLINE void put_planes(const WordsOf<Word>& codes, int r, const To& to) noexcept {
  constexpr int n = 8 / bits;
  INLAY_UNROLL for (int i = 0; i < bits; ++i) {
    Word words[n];
    INLAY_UNROLL for (int k = 0; k < n; ++k) words[k] = codes.at[bits == 4 ? i + 4 * k : n * i + k];
    turn_fields<bits>(words);
    INLAY_UNROLL for (int j = 0; j < n; ++j) put_word(to(j, i), r, words[j]);
  }
}

// The codes of one block, two bits in each byte.
template <class Word>
INLAY_INLINE void put_pairs(Quad (&pairs)[2], int r, const WordsOf<Word>& codes) noexcept {
  INLAY_UNROLL for (int p = 0; p < 2; ++p) {
    const Word(&quads)[8] = codes.at;
    put_word(pairs[p], r, quads[4 * p] | quads[4 * p + 1] << 2 | quads[4 * p + 2] << 4 | quads[4 * p + 3] << 6);
  }
}

// ---- codes that lie column by column in a word
// Bits whose numbers differ only in that bit `a` of the number is set in one and bit `b` in the other change places.
template <int a, int b, class Word>
INLAY_INLINE Word swap_numbers(Word bits) noexcept {
  constexpr int distance = (1 << a) - (1 << b);
  constexpr std::uint32_t lower = positions([](int i) { return (i >> a & 1) == 0 && (i >> b & 1) == 1; });
  const Word swap = (bits >> distance ^ bits) & lower;
  return bits ^ swap ^ swap << distance;
}
// Two bits for each of 16 columns: those of column i to field i / 4 of byte i % 4.
template <class Word>
INLAY_INLINE Word pairs_by_quad(Word pairs) noexcept {
  return swap_numbers<3, 1>(swap_numbers<4, 2>(pairs));
}
// A bit for each of 32 columns, likewise.
template <class Word>
INLAY_INLINE Word bits_by_quad(Word bits) noexcept {
  return swap_numbers<1, 0>(swap_numbers<2, 1>(swap_numbers<3, 0>(swap_numbers<4, 1>(bits))));
}
// The same bits as fields of two, the first 16 columns' in their lower bits and the others' in the upper ones.
template <class Word>
INLAY_INLINE Word bits_by_pair(Word bits) noexcept {
  return swap_numbers<2, 1>(swap_numbers<3, 1>(swap_numbers<4, 1>(swap_numbers<4, 0>(bits))));
}

}  // namespace inlay::cpu
