// The products of attention: a few rows of queries with 16 keys side by side, and their weights with 16 dimensions of
// the values side by side. One accumulator for each result, so that neither the number of rows nor the threads change a
// bit. Where the processor multiplies pairs of bfloat16, keys and values of that type meet queries and weights that are
// rounded to it: two dimensions of a key, or two neighbouring values, at a time.
#pragma once

#include <type_traits>

#include "cpu/attention.hpp"
#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

// 16 keys or values of one head that stand together: steps of 16 numbers, which are the keys' values of one dimension,
// or 16 dimensions of one value.
struct Tile {
  const std::byte *keys, *values;
  const std::byte *next_keys, *next_values;  // those of the next block, or the same again: to be fetched meanwhile
  std::uint32_t key_type, value_type;
  std::int64_t value_step, value_chunk;  // bytes from one value to the next, and to its next 16 dimensions
  int begin, end;                        // the keys of it that may be looked at
};
struct Block {
  Tile tiles[block_keys / tile_keys];
};

template <class A>
inline constexpr int vectors = tile_keys / static_cast<int>(Floats<A>::size);  // in 16 floats

// As many rows as leave registers for a vector of keys and one of queries.
template <class A>
inline constexpr int group_rows = A::plain_tokens < 8 ? A::plain_tokens : 8;

// Calls use with a function from an address to a vector of floats, and the size of a number.
template <class A, class Use>
inline void with_type(std::uint32_t type, Use use) noexcept {
  using Words = const std::uint16_t*;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 4> four;
  switch (type) {
    case INLAY_F16: return use([](const std::byte* p) { return A::halves(reinterpret_cast<Words>(p)); }, two);
    case INLAY_BF16: return use([](const std::byte* p) { return A::bfloats(reinterpret_cast<Words>(p)); }, two);
    default:
      return use([](const std::byte* p) { return Floats<A>::load_unaligned(reinterpret_cast<const float*>(p)); }, four);
  }
}

template <class A>
constexpr bool as_pairs(std::uint32_t type) noexcept {
  return has_pairs<A> && type == INLAY_BF16;
}

// Steps of 16 numbers in memory, and the memory that is wanted next.
struct Numbers {
  const std::byte *first, *next;
  std::int64_t step, steps;
};

// Sums of some rows with 16 numbers side by side; all of them stay in registers.
template <class A, int rows>
struct Sums {
  using B = Floats<A>;
  static constexpr int lanes = static_cast<int>(B::size);
  B at[rows][vectors<A>];

  INLAY_INLINE void load(const float* from, std::int64_t step, const float* factors) noexcept {
    INLAY_UNROLL for (int r = 0; r < rows; ++r) {
      INLAY_UNROLL for (int v = 0; v < vectors<A>; ++v) {
        at[r][v] = B::load_unaligned(from + r * step + v * lanes) * B(factors[r]);
      }
    }
  }
  INLAY_INLINE void clear() noexcept {
    INLAY_UNROLL for (int r = 0; r < rows; ++r) {
      INLAY_UNROLL for (int v = 0; v < vectors<A>; ++v) at[r][v] = B(0.0f);
    }
  }
  INLAY_INLINE void store(float* to, std::int64_t step) const noexcept {
    INLAY_UNROLL for (int r = 0; r < rows; ++r) {
      INLAY_UNROLL for (int v = 0; v < vectors<A>; ++v) at[r][v].store_unaligned(to + r * step + v * lanes);
    }
  }

  // at[r] += left[k * left_step + r * row_step] * numbers[k], for k = 0, 1, ... in order.
  template <int left_step, int row_step, class Load>
  INLAY_INLINE void multiply_add(const float* left, const Numbers& numbers, int size, Load load) noexcept {
    const std::byte *right = numbers.first, *next = numbers.next;
    for (std::int64_t k = 0; k < numbers.steps; ++k, left += left_step, right += numbers.step, next += numbers.step) {
      __builtin_prefetch(next);
      B vector[vectors<A>];
      INLAY_UNROLL for (int v = 0; v < vectors<A>; ++v) vector[v] = load(right + v * lanes * size);
      INLAY_UNROLL for (int r = 0; r < rows; ++r) {
        const B factor(left[r * row_step]);
        INLAY_UNROLL for (int v = 0; v < vectors<A>; ++v) at[r][v] = fused(factor, vector[v], at[r][v]);
      }
    }
  }

  // The same for pairs of numbers in bfloat16: each float of `left` holds two, too. A number that begins at an odd
  // place is the second of its pair, and the last may be alone.
  template <int left_step, int row_step>
  INLAY_INLINE void multiply_add_pairs(const float* left, const Numbers& numbers, bool odd) noexcept {
    const auto at_words = [](const std::byte* place) { return reinterpret_cast<const std::uint16_t*>(place); };
    const auto add = [&](auto pairs) INLAY_ALWAYS {
      INLAY_UNROLL for (int r = 0; r < rows; ++r) {
        const auto both = A::template spread<0>(reinterpret_cast<const std::int8_t*>(left + r * row_step));
        at[r][0] = A::add_pairs(at[r][0], pairs, both);
      }
      left += left_step;
    };
    const std::byte *right = numbers.first, *next = numbers.next, *end = right + numbers.steps * numbers.step;
    if (odd) {
      add(A::second_of_pairs(at_words(right)));
      right += numbers.step, next += numbers.step;
    }
    for (; right + numbers.step < end; right += 2 * numbers.step, next += 2 * numbers.step) {
      __builtin_prefetch(next);
      __builtin_prefetch(next + numbers.step);
      add(A::pairs_of_bfloats(at_words(right), at_words(right + numbers.step)));
    }
    if (right < end) add(A::half_pairs_of_bfloats(at_words(right)));
  }
};

// scores[rows][score_stride] = queries[key_dims][rows] * keys; or queries[key_dims / 2][rows] pairs
template <class A, int rows>
void score(const Block& block, const float* queries, int key_dims, float* scores) noexcept {
  for (int t = 0; t < block_keys / tile_keys; ++t) {
    const Tile& tile = block.tiles[t];
    if (tile.begin == tile.end) continue;
    if constexpr (has_pairs<A>) {
      if (tile.key_type == INLAY_BF16) {
        Sums<A, rows> sums;
        sums.clear();
        const Numbers keys = {tile.keys, tile.next_keys, tile_keys * 2, key_dims};
        sums.template multiply_add_pairs<rows, 1>(queries, keys, false);
        sums.store(scores + t * tile_keys, score_stride);
        continue;
      }
    }
    with_type<A>(tile.key_type, [&](auto load, auto size) {
      Sums<A, rows> sums;
      sums.clear();
      const Numbers keys = {tile.keys, tile.next_keys, tile_keys * size, key_dims};
      sums.template multiply_add<rows, 1>(queries, keys, size, load);
      sums.store(scores + t * tile_keys, score_stride);
    });
  }
}

// Values that stand one after another, and the place of their weights in a block.
struct Run {
  const std::byte *first, *next;
  std::uint32_t type;
  std::int64_t step, chunk;
  int begin, end;
};

// The values of a block in as few runs as possible.
inline int runs_of(const Block& block, Run (&runs)[block_keys / tile_keys]) noexcept {
  int count = 0;
  for (int t = 0; t < block_keys / tile_keys; ++t) {
    const Tile& tile = block.tiles[t];
    if (tile.begin == tile.end) continue;
    const std::int64_t skipped = tile.begin * tile.value_step;
    const Run run = {tile.values + skipped, tile.next_values + skipped, tile.value_type,         tile.value_step,
                     tile.value_chunk,      t * tile_keys + tile.begin, t * tile_keys + tile.end};
    Run* last = count > 0 ? &runs[count - 1] : nullptr;
    const bool follows =
        last && last->end == run.begin && last->first + (last->end - last->begin) * last->step == run.first;
    follows ? void(last->end = run.end) : void(runs[count++] = run);
  }
  return count;
}

// sums[rows][value_stride] = sums * factors[rows] + weights[rows][score_stride] * values; or pairs of weights, in the
// first half of each row
template <class A, int rows>
void add_values(const Run* runs, int count, const float* weights, const float* factors, float* sums,
                int value_stride) noexcept {
  for (int d = 0; d < value_stride; d += tile_keys) {
    Sums<A, rows> running;
    running.load(sums + d, value_stride, factors);
    for (const Run* run = runs; run != runs + count; ++run) {
      const std::int64_t offset = d / tile_keys * run->chunk;
      const Numbers values = {run->first + offset, run->next + offset, run->step, run->end - run->begin};
      if constexpr (has_pairs<A>) {
        if (run->type == INLAY_BF16) {
          running.template multiply_add_pairs<1, score_stride>(weights + run->begin / 2, values, run->begin % 2 != 0);
          continue;
        }
      }
      with_type<A>(run->type, [&](auto load, auto size) {
        running.template multiply_add<1, score_stride>(weights + run->begin, values, size, load);
      });
    }
    running.store(sums + d, value_stride);
  }
}

// Calls use with rows (1 to group_rows) as a constant.
template <class A, int least = 1, class Use>
inline void with_rows(int rows, Use use) noexcept {
  if constexpr (least >= group_rows<A>) {
    use(std::integral_constant<int, least>());
  } else {
    if (rows == least) return use(std::integral_constant<int, least>());
    with_rows<A, least + 1>(rows, use);
  }
}

}  // namespace
}  // namespace inlay::cpu
