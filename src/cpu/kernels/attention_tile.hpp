// The products of attention: a few rows of queries with 16 keys side by side, and their weights with 16 dimensions of the
// values side by side. One accumulator for each result, so that neither the number of rows nor the threads change a bit.
#pragma once

#include <type_traits>

#include "cpu/attention.hpp"
#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

// Up to 16 keys that stand together, ready for the products.
struct Tile {
  const std::byte *keys, *values;  // [key_dims][16] and [16][value_stride], of these types:
  std::uint32_t key_type, value_type;
  std::int64_t value_row;          // bytes from one value to the next
  int begin, end;                  // the keys of it that may be looked at
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

// sums[r] += left[k * left_step + r * row_step] * right[k], for k = 0, 1, ... in order; right[k] are 16 numbers.
template <class A, int rows, int row_step, class Load>
INLAY_INLINE void multiply_add(Floats<A> (&sums)[rows][vectors<A>], const float* left, int left_step,
                                                const std::byte* right, std::int64_t right_step, std::int64_t steps, int size,
                                                Load load) noexcept {
  using B = Floats<A>;
  for (std::int64_t k = 0; k < steps; ++k, left += left_step, right += right_step) {
    B numbers[vectors<A>];
    unroll<vectors<A>>([&](auto v) { numbers[v] = load(right + v * static_cast<int>(B::size) * size); });
    unroll<rows>([&](auto r) {
      const B factor(left[r * row_step]);
      unroll<vectors<A>>([&](auto v) { sums[r][v] = xsimd::fma(factor, numbers[v], sums[r][v]); });
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
      multiply_add<A, rows, 1>(sums, queries, rows, tile.keys, tile_keys * size, key_dims, size, load);
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
        multiply_add<A, rows, block_keys>(running, weights + t * tile_keys + tile.begin, 1,
                                          tile.values + tile.begin * tile.value_row + d * size, tile.value_row,
                                          tile.end - tile.begin, size, load);
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
