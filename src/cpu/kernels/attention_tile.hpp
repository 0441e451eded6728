// The products of attention: a few rows of queries with 16 keys side by side, and their weights with 16 dimensions of the
// values side by side. One accumulator for each result, so that neither the number of rows nor the threads change a bit.
#pragma once

#include <type_traits>

#include "cpu/attention.hpp"
#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

// 16 keys or values of one head that stand together: steps of 16 numbers, which are the keys' values of one dimension, or
// 16 dimensions of one value.
struct Tile {
  const std::byte *keys, *values;
  const std::byte *next_keys, *next_values;  // those of the next block, or the same again: to be fetched meanwhile
  std::uint32_t key_type, value_type;
  std::int64_t value_step, value_chunk;      // bytes from one value to the next, and to its next 16 dimensions
  int begin, end;                            // the keys of it that may be looked at
};
struct Block {
  Tile tiles[block_keys / tile_keys];
};

template <class A>
inline constexpr int vectors = tile_keys / static_cast<int>(Floats<A>::size);  // in 16 floats

// As many rows as leave registers for a vector of keys and one of queries.
template <class A>
inline constexpr int group_rows = Floats<A>::size == 16 ? 8 : Floats<A>::size == 8 ? 6 : 2;

// Calls use with a function from an address to a vector of floats, and the size of a number.
template <class A, class Use>
inline void with_type(std::uint32_t type, Use use) noexcept {
  using Words = const std::uint16_t*;
  constexpr std::integral_constant<int, 2> two;
  constexpr std::integral_constant<int, 4> four;
  switch (type) {
    case INLAY_F16: return use([](const std::byte* p) { return A::halves(reinterpret_cast<Words>(p)); }, two);
    case INLAY_BF16: return use([](const std::byte* p) { return A::bfloats(reinterpret_cast<Words>(p)); }, two);
    default: return use([](const std::byte* p) { return Floats<A>::load_unaligned(reinterpret_cast<const float*>(p)); }, four);
  }
}

// Steps of 16 numbers in memory, and the memory that is wanted next.
struct Numbers {
  const std::byte *first, *next;
  std::int64_t step, steps;
};

// sums[r] += left[k * left_step + r * row_step] * numbers[k], for k = 0, 1, ... in order.
template <class A, int rows, int row_step, class Load>
INLAY_INLINE void multiply_add(Floats<A> (&sums)[rows][vectors<A>], const float* left, int left_step,
                               const Numbers& numbers, int size, Load load) noexcept {
  using B = Floats<A>;
  const std::byte *right = numbers.first, *next = numbers.next;
  for (std::int64_t k = 0; k < numbers.steps; ++k, left += left_step, right += numbers.step, next += numbers.step) {
    __builtin_prefetch(next);
    B vector[vectors<A>];
    unroll<vectors<A>>([&](auto v) { vector[v] = load(right + v * static_cast<int>(B::size) * size); });
    unroll<rows>([&](auto r) {
      const B factor(left[r * row_step]);
      unroll<vectors<A>>([&](auto v) { sums[r][v] = xsimd::fma(factor, vector[v], sums[r][v]); });
    });
  }
}

// scores[rows][64] = queries[key_dims][rows] * keys
template <class A, int rows>
void score(const Block& block, const float* queries, int key_dims, float* scores) noexcept {
  using B = Floats<A>;
  for (int t = 0; t < block_keys / tile_keys; ++t) {
    const Tile& tile = block.tiles[t];
    if (tile.begin == tile.end) continue;
    with_type<A>(tile.key_type, [&](auto load, auto size) {
      B sums[rows][vectors<A>];
      unroll<rows>([&](auto r) { unroll<vectors<A>>([&](auto v) { sums[r][v] = B(0.0f); }); });
      const Numbers keys = {tile.keys, tile.next_keys, tile_keys * size, key_dims};
      multiply_add<A, rows, 1>(sums, queries, rows, keys, size, load);
      unroll<rows>([&](auto r) {
        unroll<vectors<A>>([&](auto v) {
          sums[r][v].store_unaligned(scores + r * block_keys + t * tile_keys + v * static_cast<int>(B::size));
        });
      });
    });
  }
}

// sums[rows][value_stride] = sums * factors[rows] + weights[rows][64] * values
template <class A, int rows>
void add_values(const Block& block, const float* weights, const float* factors, float* sums, int value_stride) noexcept {
  using B = Floats<A>;
  for (int d = 0; d < value_stride; d += tile_keys) {
    B running[rows][vectors<A>];
    const auto each = [&](auto use) {
      unroll<rows>([&](auto r) {
        unroll<vectors<A>>([&](auto v) {
          use(running[r][v], sums + r * value_stride + d + v * static_cast<int>(B::size), factors[r]);
        });
      });
    };
    each([](B& sum, const float* place, float factor) { sum = B::load_unaligned(place) * B(factor); });
    for (int t = 0; t < block_keys / tile_keys; ++t) {
      const Tile& tile = block.tiles[t];
      if (tile.begin == tile.end) continue;
      with_type<A>(tile.value_type, [&](auto load, auto size) {
        const std::int64_t offset = tile.begin * tile.value_step + d / tile_keys * tile.value_chunk;
        const Numbers values = {tile.values + offset, tile.next_values + offset, tile.value_step, tile.end - tile.begin};
        multiply_add<A, rows, block_keys>(running, weights + t * tile_keys + tile.begin, 1, values, size, load);
      });
    }
    each([](const B& sum, float* place, float) { sum.store_unaligned(place); });
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
