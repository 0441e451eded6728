// Matrix products: few tokens straight from the packed weights, more through an unpacked panel that stays in the cache.
// There is one inner function for both, so they give the same bits.
#pragma once

#include <type_traits>

#include "cpu/kernels/weights.hpp"

namespace inlay::cpu {
namespace {

inline constexpr int prefetch_bytes = 8192;  // into the second cache: from the first, lines would be lost again

template <class A>
INLAY_INLINE int bytes_ahead(int tokens) noexcept {
  if constexpr (requires { A::prefetch_bytes_of_one(); }) {
    if (tokens == 1) return A::prefetch_bytes_of_one();
  }
  return prefetch_bytes;
}

INLAY_INLINE void prefetch(const void* from) noexcept { __builtin_prefetch(from, 0, 2); }

// The quads of a block in an order that uses what was loaded while it is at hand: both nibbles of a byte.
constexpr int quad_at(int i, int parts) noexcept { return parts == 1 ? i / 2 + i % 2 * 4 : i; }
constexpr int log2_of(int power) noexcept { return power <= 1 ? 0 : 1 + log2_of(power / 2); }

// Sums of G groups of 16 rows for T tokens, which begin with zero or go on from what is in y.
template <class A, int G, int T>
struct TileSums {
  static constexpr int group_vectors = packed_rows / A::rows, vectors = G * group_vectors;
  Floats<A> of[T][vectors];

  template <bool go_on>
  INLAY_INLINE TileSums(std::bool_constant<go_on>, float* const (&y)[G]) noexcept {
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) {
        of[t][v] = go_on ? Floats<A>::load_unaligned(place(y, t, v)) : Floats<A>(0.0f);
      }
    }
  }
  INLAY_INLINE void store(float* const (&y)[G]) const noexcept {
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) of[t][v].store_unaligned(place(y, t, v));
    }
  }
  static INLAY_INLINE float* place(float* const (&y)[G], int t, int v) noexcept {
    return y[v / group_vectors] + t * packed_rows + v % group_vectors * A::rows;
  }
};

// What makes up for codes that are `zero` too large.
template <class A, class W>
INLAY_INLINE Ints<A> offset_of(const Activation& x, int part) noexcept {
  if constexpr (W::zero == 0) {
    return Ints<A>(0);
  } else {
    const Ints<A> offset(W::parts == 1 ? x.offset : x.part_offsets[part]);
    constexpr int shift = 7 - log2_of(W::zero);
    if constexpr (shift == 0) return offset;
    return offset >> shift;
  }
}

// One part of a block: integers exactly, then sum += (scale of the weight * scale of x) * integer, and where there are
// minima sum += minimum * (sum of x).
template <class A, class W, int G, int T>
INLAY_INLINE void multiply_part(const typename W::Stream* const (&weights)[G], int block, auto part,
                                const Activation* const (&x)[T], TileSums<A, G, T>& sums) noexcept {
  using Dot = typename A::template Dot<W::bits>;
  constexpr int each = packed_rows / A::rows, vectors = G * each, quads = block_quads / W::parts;
  constexpr bool begins = requires(Dot dot, Ints<A> sums) { dot.begin(sums); };
  Dot dots[T][vectors];
  if constexpr (begins) {
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      const auto first = offset_of<A, W>(*x[t], part);
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) dots[t][v].begin(first);
    }
  }
  unroll<quads>([&](auto i) INLAY_ALWAYS {
    constexpr int q = decltype(part)::value * quads + quad_at(i, W::parts);
    typename A::Bytes codes[vectors];
    INLAY_UNROLL for (int v = 0; v < vectors; ++v) {
      codes[v] = W::template codes<q>(*weights[v / each], block, v % each);
    }
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      const auto four = A::template spread<q>(x[t]->codes);
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) dots[t][v].template add<i>(codes[v], four);
    }
  });
  INLAY_UNROLL for (int v = 0; v < vectors; ++v) {
    const Floats<A> scale = W::scale(*weights[v / each], block, part, v % each);
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      Ints<A> total = dots[t][v].template total<quads>();
      if constexpr (W::zero != 0 && !begins) total += offset_of<A, W>(*x[t], part);
      sums.of[t][v] = fused(xsimd::to_float(total), scale * Floats<A>(x[t]->scale), sums.of[t][v]);
    }
    if constexpr (W::minimum) {
      const Floats<A> least = W::least(*weights[v / each], block, part, v % each);
      INLAY_UNROLL for (int t = 0; t < T; ++t) {
        const Floats<A> sum(W::parts == 1 ? x[t]->scaled_sum : x[t]->scaled_part_sums[part]);
        sums.of[t][v] = fused(least, sum, sums.of[t][v]);
      }
    }
  }
}

template <class A, class W, int G, int T, bool from_memory>
INLAY_INLINE void multiply(const std::byte* const (&groups)[G], int blocks, const std::byte* rows, std::size_t stride,
                           float* const (&y)[G]) noexcept {
  const typename W::Stream* streams[G];
  INLAY_UNROLL for (int g = 0; g < G; ++g) streams[g] = reinterpret_cast<const typename W::Stream*>(groups[g]);
  const Activation* x[T];
  INLAY_UNROLL for (int t = 0; t < T; ++t) x[t] = reinterpret_cast<const Activation*>(rows + t * stride);
  TileSums<A, G, T> sums(std::bool_constant<from_memory>(), y);
  const int distance = from_memory ? bytes_ahead<A>(T) : 0;
  for (int element = blocks / W::blocks; element > 0; --element) {
    for (int block = 0; block < W::blocks; ++block) {
      if constexpr (from_memory) {
        constexpr std::size_t bytes = sizeof *streams[0] / W::blocks;
        const auto* ahead = reinterpret_cast<const char*>(streams[0]) + block * bytes + distance;
        INLAY_UNROLL for (std::size_t i = 0; i < bytes; i += 64) prefetch(ahead + i);
      }
      unroll<W::parts>([&](auto part) INLAY_ALWAYS { multiply_part<A, W, G, T>(streams, block, part, x, sums); });
      INLAY_UNROLL for (int t = 0; t < T; ++t) x[t] += 1;
    }
    INLAY_UNROLL for (int g = 0; g < G; ++g) streams[g] += 1;
  }
  sums.store(y);
}

template <class A, class W, int G, int T, bool from_memory>
INLAY_INLINE void multiply_floats(const std::byte* const (&groups)[G], int columns, const std::byte* rows,
                                  std::size_t stride, float* const (&y)[G]) noexcept {
  using Sums = TileSums<A, G, T>;
  const typename W::Stream* streams[G];
  INLAY_UNROLL for (int g = 0; g < G; ++g) streams[g] = reinterpret_cast<const typename W::Stream*>(groups[g]);
  const float* x[T];
  INLAY_UNROLL for (int t = 0; t < T; ++t) x[t] = reinterpret_cast<const float*>(rows + t * stride);
  Sums sums(std::bool_constant<from_memory>(), y);
  for (int column = 0; column < columns; ++column) {
    if constexpr (from_memory) prefetch(reinterpret_cast<const char*>(streams[0] + column) + prefetch_bytes);
    Floats<A> weights[Sums::vectors];
    INLAY_UNROLL for (int v = 0; v < Sums::vectors; ++v) {
      weights[v] = W::column(streams[v / Sums::group_vectors][column], v % Sums::group_vectors);
    }
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      const Floats<A> value(x[t][column]);
      INLAY_UNROLL for (int v = 0; v < Sums::vectors; ++v) sums.of[t][v] = fused(weights[v], value, sums.of[t][v]);
    }
  }
  sums.store(y);
}

// Pairs of columns in bfloat16: sum += the products of a pair, the second column's first.
template <class A, class W, int G, int T, bool from_memory>
INLAY_INLINE void multiply_pairs(const std::byte* const (&groups)[G], int columns, const std::byte* rows,
                                 std::size_t stride, float* const (&y)[G]) noexcept {
  TileSums<A, G, T> sums(std::bool_constant<from_memory>(), y);
  const auto at = [&](int g, int column) INLAY_ALWAYS {
    return reinterpret_cast<const std::uint16_t*>(groups[g]) + std::ptrdiff_t{column} * packed_rows;
  };
  const auto add = [&](const typename A::Bytes(&weights)[G], int column) INLAY_ALWAYS {
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      const auto pair = A::template spread<0>(reinterpret_cast<const std::int8_t*>(rows + t * stride + column * 2));
      INLAY_UNROLL for (int g = 0; g < G; ++g) sums.of[t][g] = A::add_pairs(sums.of[t][g], weights[g], pair);
    }
  };
  typename A::Bytes weights[G];
  int column = 0;
  for (; column + 1 < columns; column += 2) {
    if constexpr (from_memory) prefetch(at(0, column) + prefetch_bytes / sizeof(std::uint16_t));
    INLAY_UNROLL for (int g = 0; g < G; ++g) weights[g] = W::pairs(at(g, column));
    add(weights, column);
  }
  if (column < columns) {
    INLAY_UNROLL for (int g = 0; g < G; ++g) weights[g] = W::last(at(g, column));
    add(weights, column);
  }
  sums.store(y);
}

// ---- the functions of the table: tokens in tiles of T, then what is left in smaller ones
template <class A, class W, int G, int T, bool from_memory>
INLAY_INLINE void multiply_tile(const std::byte* const (&groups)[G], int blocks, const std::byte* x, std::size_t stride,
                                float* const (&y)[G]) noexcept {
  if constexpr (requires { &W::pairs; }) {
    multiply_pairs<A, W, G, T, from_memory>(groups, blocks, x, stride, y);
  } else if constexpr (requires { &W::column; }) {
    multiply_floats<A, W, G, T, from_memory>(groups, blocks, x, stride, y);
  } else {
    multiply<A, W, G, T, from_memory>(groups, blocks, x, stride, y);
  }
}

template <class A, class W, int G, int T, bool from_memory>
void multiply_tiles(const std::byte* const (&groups)[G], int blocks, const std::byte* x, std::size_t stride, int tokens,
                    float* (&y)[G]) noexcept {
  for (; tokens >= T; tokens -= T, x += T * stride) {
    multiply_tile<A, W, G, T, from_memory>(groups, blocks, x, stride, y);
    INLAY_UNROLL for (int g = 0; g < G; ++g) y[g] += T * packed_rows;
  }
  if constexpr (T > 1) {
    constexpr int fewer = T == 3 || (T == 4 && from_memory) ? T - 1 : T / 2;
    if (tokens > 0) multiply_tiles<A, W, G, fewer, from_memory>(groups, blocks, x, stride, tokens, y);
  }
}

template <class A, class W>
void multiply_few(const std::byte* group, int blocks, const std::byte* x, std::size_t stride, int tokens,
                  float* y) noexcept {
  float* to[] = {y};
  multiply_tiles<A, W, 1, A::few_tokens, true>({group}, blocks, x, stride, tokens, to);
}

// single: tokens of a tile with one group of rows; paired: with two, none where that does not pay.
template <class A, class W, int single, int paired>
void multiply_many(const std::byte* const* panels, int count, int blocks, const std::byte* x, std::size_t stride,
                   int tokens, float* const* y) noexcept {
  if constexpr (paired > 0) {
    if (count == 2) {
      float* to[] = {y[0], y[1]};
      return multiply_tiles<A, W, 2, paired, false>({panels[0], panels[1]}, blocks, x, stride, tokens, to);
    }
  }
  for (int i = 0; i < count; ++i) {
    float* to[] = {y[i]};
    multiply_tiles<A, W, 1, single, false>({panels[i]}, blocks, x, stride, tokens, to);
  }
}

}  // namespace
}  // namespace inlay::cpu
