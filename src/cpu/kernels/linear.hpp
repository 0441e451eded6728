// Matrix products: few tokens straight from the packed weights, more through an unpacked panel that stays in the cache.
// There is one inner function for both, so they give the same bits.
#pragma once

#include "cpu/kernels/glu.hpp"
#include "cpu/kernels/norm.hpp"
#include "cpu/kernels/quantize.hpp"
#include "cpu/kernels/tiles.hpp"
#include "cpu/kernels/weights.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

constexpr int prefetch_bytes = 2048;  // farther ahead, lines are lost from the first cache again

// The quads of a block in an order that uses what was loaded while it is at hand: both nibbles of a byte.
constexpr int quad_at(int i, int parts) noexcept { return parts == 1 ? i / 2 + i % 2 * 4 : i; }
constexpr int log2_of(int power) noexcept { return power <= 1 ? 0 : 1 + log2_of(power / 2); }

// TileSums of 16 rows for T tokens.
template <class A, int T>
struct TileSums {
  static constexpr int vectors = packed_rows / A::rows;
  Floats<A> of[T][vectors];

  INLAY_INLINE TileSums() noexcept {
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) of[t][v] = Floats<A>(0.0f);
    }
  }
  INLAY_INLINE void store(float* y) const noexcept {
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) of[t][v].store_unaligned(y + t * packed_rows + v * A::rows);
    }
  }
};

// One part of a block: integers exactly, then sum += (scale of the weight * scale of x) * integer, and where there are
// minima sum += minimum * (sum of x).
template <class A, class W, int T>
INLAY_INLINE void multiply_part(const typename W::Stream& weights, int block, auto part,
                                const Activation* const (&x)[T], TileSums<A, T>& sums) noexcept {
  constexpr int vectors = packed_rows / A::rows, quads = block_quads / W::parts;
  typename A::template Dot<W::bits> dots[T][vectors];
  unroll<quads>([&](auto i) INLAY_ALWAYS {
    constexpr int q = decltype(part)::value * quads + quad_at(i, W::parts);
    typename A::Bytes codes[vectors];
    INLAY_UNROLL for (int v = 0; v < vectors; ++v) codes[v] = W::template codes<q>(weights, block, v);
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      const auto four = A::spread(x[t]->codes + 4 * q);
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) dots[t][v].template add<i>(codes[v], four);
    }
  });
  INLAY_UNROLL for (int v = 0; v < vectors; ++v) {
    const Floats<A> scale = W::scale(weights, block, part, v);
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      Ints<A> total = dots[t][v].template total<quads>();
      if constexpr (W::zero != 0) {
        total -= Ints<A>(W::parts == 1 ? x[t]->sum : x[t]->part_sums[part]) << log2_of(W::zero);
      }
      sums.of[t][v] = fused(xsimd::to_float(total), scale * Floats<A>(x[t]->scale), sums.of[t][v]);
    }
    if constexpr (W::minimum) {
      const Floats<A> least = W::least(weights, block, part, v);
      INLAY_UNROLL for (int t = 0; t < T; ++t) {
        const Floats<A> sum(W::parts == 1 ? x[t]->scaled_sum : x[t]->scaled_part_sums[part]);
        sums.of[t][v] = fused(least, sum, sums.of[t][v]);
      }
    }
  }
}

template <class A, class W, int T, bool from_memory>
INLAY_INLINE void multiply(const std::byte* group, int blocks, const std::byte* rows, std::size_t stride,
                           float* y) noexcept {
  const auto* stream = reinterpret_cast<const typename W::Stream*>(group);
  const Activation* x[T];
  INLAY_UNROLL for (int t = 0; t < T; ++t) x[t] = reinterpret_cast<const Activation*>(rows + t * stride);
  TileSums<A, T> sums;
  for (int element = blocks / W::blocks; element > 0; --element, ++stream) {
    for (int block = 0; block < W::blocks; ++block) {
      if constexpr (from_memory) {
        const auto* ahead =
            reinterpret_cast<const char*>(stream) + block * (sizeof *stream / W::blocks) + prefetch_bytes;
        INLAY_UNROLL for (std::size_t i = 0; i < sizeof *stream / W::blocks; i += 64) __builtin_prefetch(ahead + i);
      }
      unroll<W::parts>([&](auto part) INLAY_ALWAYS { multiply_part<A, W, T>(*stream, block, part, x, sums); });
      INLAY_UNROLL for (int t = 0; t < T; ++t) x[t] += 1;
    }
  }
  sums.store(y);
}

template <class A, class W, int T>
INLAY_INLINE void multiply_plain(const std::byte* group, int columns, const std::byte* rows, std::size_t stride,
                                 float* y) noexcept {
  const auto* stream = reinterpret_cast<const typename W::Stream*>(group);
  const float* x[T];
  INLAY_UNROLL for (int t = 0; t < T; ++t) x[t] = reinterpret_cast<const float*>(rows + t * stride);
  TileSums<A, T> sums;
  for (int column = 0; column < columns; ++column) {
    constexpr int vectors = TileSums<A, T>::vectors;
    Floats<A> weights[vectors];
    INLAY_UNROLL for (int v = 0; v < vectors; ++v) weights[v] = W::column(stream[column], v);
    INLAY_UNROLL for (int t = 0; t < T; ++t) {
      const Floats<A> value(x[t][column]);
      INLAY_UNROLL for (int v = 0; v < vectors; ++v) sums.of[t][v] = fused(weights[v], value, sums.of[t][v]);
    }
  }
  sums.store(y);
}

// ---- the functions of the table: tokens in tiles of T, then what is left in smaller ones
template <class A, class W, int T, bool from_memory>
void multiply_tiles(const std::byte* weights, int blocks, const std::byte* x, std::size_t stride, int tokens,
                    float* y) noexcept {
  for (; tokens >= T; tokens -= T, x += T * stride, y += T * packed_rows) {
    multiply<A, W, T, from_memory>(weights, blocks, x, stride, y);
  }
  if constexpr (T > 1) {
    if (tokens > 0) multiply_tiles<A, W, T == 3 ? 2 : T / 2, from_memory>(weights, blocks, x, stride, tokens, y);
  }
}

template <class A, class W, int T>
void multiply_tiles_plain(const std::byte* weights, int columns, const std::byte* x, std::size_t stride, int tokens,
                          float* y) noexcept {
  for (; tokens >= T; tokens -= T, x += T * stride, y += T * packed_rows) {
    multiply_plain<A, W, T>(weights, columns, x, stride, y);
  }
  if constexpr (T > 1) {
    if (tokens > 0) multiply_tiles_plain<A, W, T / 2>(weights, columns, x, stride, tokens, y);
  }
}

// P: the form of the panel; `less`: what its codes are less by.
template <class A, class W, class P, int less>
void unpack(const std::byte* group, int blocks, std::byte* panel) noexcept {
  const auto* stream = reinterpret_cast<const typename W::Stream*>(group);
  auto* to = reinterpret_cast<PanelBlock<P>*>(panel);
  for (int i = 0; i < blocks; ++i, ++to) {
    const auto& from = stream[i / W::blocks];
    const int block = i % W::blocks;
    for (int v = 0; v < packed_rows / A::rows; ++v) {
      unroll<block_quads>([&](auto i) INLAY_ALWAYS {
        constexpr int q = quad_at(i, 1);
        auto codes = W::template codes<q>(from, block, v);
        if constexpr (less != 0) codes = A::template less<less>(codes);
        A::store(to->codes[q][v * A::rows], codes);
      });
      for (int part = 0; part < W::parts; ++part) {
        Floats<A>(W::scale(from, block, part, v)).store_unaligned(to->scales[part] + v * A::rows);
        if constexpr (W::minimum)
          Floats<A>(W::least(from, block, part, v)).store_unaligned(to->minima[part] + v * A::rows);
      }
    }
  }
}

template <class A, class W>
void unpack_plain(const std::byte* group, int columns, std::byte* panel) noexcept {
  const auto* stream = reinterpret_cast<const typename W::Stream*>(group);
  auto* to = reinterpret_cast<PackedF32*>(panel);
  for (int i = 0; i < columns; ++i) {
    for (int v = 0; v < packed_rows / A::rows; ++v) W::column(stream[i], v).store_unaligned(to[i].values + v * A::rows);
  }
}

template <class A>
constexpr bool has_tiles = requires {
  A::tile_tokens;
};

template <class A, class W>
constexpr WeightKernels rounded(gguf::Type type) noexcept {
  WeightKernels row = {.type = static_cast<std::uint32_t>(type),
                       .plain = false,
                       .panel_bytes = 0,
                       .few = multiply_tiles<A, W, A::few_tokens, true>,
                       .unpack = nullptr,
                       .many = nullptr};
  if constexpr (has_tiles<A>) {
    using P = TilePanelOf<A, W>;
    row.panel_bytes = sizeof(PanelBlock<P>);
    row.unpack = unpack<A, W, P, W::zero>;
    row.many = multiply_in_tiles<A, P>;
  } else {
    using P = PanelOf<A, W>;
    row.panel_bytes = sizeof(PanelBlock<P>);
    row.unpack = unpack<A, W, P, 0>;
    row.many = multiply_tiles<A, P, A::tokens(W::bits), false>;
  }
  return row;
}

template <class A, class W>
constexpr WeightKernels plain(gguf::Type type) noexcept {
  return {.type = static_cast<std::uint32_t>(type),
          .plain = true,
          .panel_bytes = sizeof(PackedF32),
          .few = multiply_tiles_plain<A, W, A::few_tokens>,
          .unpack = std::is_same_v<W, WeightF32<A>> ? nullptr : unpack_plain<A, W>,
          .many = multiply_tiles_plain<A, WeightF32<A>, A::plain_tokens>};
}

template <class A>
constexpr WeightKernels weight_table[] = {
    rounded<A, WeightQ4_0<A>>(gguf::Type::Q4_0),
    rounded<A, WeightQ4_1<A>>(gguf::Type::Q4_1),
    rounded<A, WeightQ5_0<A>>(gguf::Type::Q5_0),
    rounded<A, WeightQ5_1<A>>(gguf::Type::Q5_1),
    rounded<A, WeightQ8_0<A>>(gguf::Type::Q8_0),
    rounded<A, WeightQ2_K<A>>(gguf::Type::Q2_K),
    rounded<A, WeightQ3_K<A>>(gguf::Type::Q3_K),
    rounded<A, WeightQ4_K<A>>(gguf::Type::Q4_K),
    rounded<A, WeightQ5_K<A>>(gguf::Type::Q5_K),
    rounded<A, WeightQ6_K<A>>(gguf::Type::Q6_K),
    rounded<A, WeightIQ4_NL<A>>(gguf::Type::IQ4_NL),
    rounded<A, WeightIQ4_XS<A>>(gguf::Type::IQ4_XS),
    rounded<A, WeightMXFP4<A>>(gguf::Type::MXFP4),
    rounded<A, WeightTernary<A, 8>>(gguf::Type::TQ2_0),
    rounded<A, WeightTernary<A, 8>>(gguf::Type::TQ1_0),
    rounded<A, WeightTernary<A, 2>>(gguf::Type::Q2_0),
    rounded<A, WeightTernary<A, 4>>(gguf::Type::Q1_0),
    plain<A, WeightF32<A>>(gguf::Type::F32),
    plain<A, WeightF16<A>>(gguf::Type::F16),
    plain<A, WeightBF16<A>>(gguf::Type::BF16),
};

template <class A>
constexpr LinearKernels linear_kernels() noexcept {
  return {.weights = weight_table<A>,
          .weight_count = static_cast<int>(std::size(weight_table<A>)),
          .few_tokens = has_tiles<A> ? A::few_tokens : 2 * A::few_tokens,
          .tile = has_tiles<A> ? TileForm{ActivationTile::tokens, sizeof(ActivationTile), put_in_tile}
                               : TileForm{1, sizeof(Activation), nullptr},
          .quantize = quantize<A>,
          .norm_row = norm_row<A>,
          .glu_row = glu_row<A>};
}

}  // namespace
}  // namespace inlay::cpu
