// Matrix products of 16 tokens and 16 rows at once, where the processor has tile registers. Integers are exact and the
// order of the sums is that of linear.hpp, so these give the same bits.
#pragma once

#include <algorithm>

#include "cpu/kernels/weights.hpp"

namespace inlay::cpu {
namespace {

// An unpacked group for tiles: its codes are signed, their zero taken off.
template <class A, class W>
using TilePanelOf = Panel<A, 8, 0, W::parts, W::minimum>;

template <class A>
using TileFloats = Floats<A>[ActivationTile::tokens];

// sum += (scale of the weight * scale of x) * integer, and where there are minima sum += minimum * (sum of x).
template <class A, class P>
INLAY_INLINE void add_totals(const PanelBlock<P>& weights, const ActivationTile& x, int part,
                             const std::int32_t (&totals)[16][16], TileFloats<A>& sums) noexcept {
  const Floats<A> scale = P::scale(weights, 0, part, 0);
  INLAY_UNROLL for (int t = 0; t < ActivationTile::tokens; ++t) {
    const auto total = xsimd::to_float(Ints<A>::load_aligned(totals[t]));
    sums[t] = fused(total, scale * Floats<A>(x.scales[t]), sums[t]);
  }
  if constexpr (P::minimum) {
    const Floats<A> least = P::least(weights, 0, part, 0);
    INLAY_UNROLL for (int t = 0; t < ActivationTile::tokens; ++t) {
      sums[t] = fused(least, Floats<A>(P::parts == 1 ? x.scaled_sums[t] : x.scaled_part_sums[part][t]), sums[t]);
    }
  }
}

template <class A, class P>
INLAY_INLINE void multiply_with_tile(const PanelBlock<P>* weights, int blocks, const ActivationTile* x,
                                     float* y) noexcept {
  alignas(64) std::int32_t totals[2][16][16];
  TileFloats<A> sums;
  INLAY_UNROLL for (auto& sum : sums) sum = Floats<A>(0.0f);
  const auto begin = [&](auto set, int step) INLAY_ALWAYS {
    const int block = step / P::parts, part = step % P::parts;
    const auto* codes = reinterpret_cast<const std::int8_t(*)[block_columns]>(x[block].codes[0] + part * 16);
    A::template dot<set>(codes, weights[block].codes + part * 4, totals[set]);
  };
  const auto end = [&](auto set, int step) INLAY_ALWAYS {
    const int block = step / P::parts;
    add_totals<A, P>(weights[block], x[block], step % P::parts, totals[set], sums);
  };
  constexpr std::integral_constant<int, 0> even;
  constexpr std::integral_constant<int, 1> odd;
  const int steps = blocks * P::parts;
  begin(even, 0);
  for (int step = 0; step < steps; step += 2) {  // the next products begin before the last are added
    if (step + 1 < steps) begin(odd, step + 1);
    end(even, step);
    if (step + 2 < steps) begin(even, step + 2);
    if (step + 1 < steps) end(odd, step + 1);
  }
  INLAY_UNROLL for (int t = 0; t < ActivationTile::tokens; ++t) sums[t].store_unaligned(y + t * packed_rows);
}

template <class A, class P>
void multiply_in_tiles(const std::byte* const* panels, int count, int blocks, const std::byte* x, std::size_t stride,
                       int tokens, float* const* y) noexcept {
  A::template open_tiles<P::parts>();
  for (int i = 0; i < count; ++i) {
    const auto* tile = x;
    float* to = y[i];
    for (int left = tokens; left > 0; left -= ActivationTile::tokens, tile += stride) {
      multiply_with_tile<A, P>(reinterpret_cast<const PanelBlock<P>*>(panels[i]), blocks,
                               reinterpret_cast<const ActivationTile*>(tile), to);
      to += ActivationTile::tokens * packed_rows;
    }
  }
  A::close_tiles();
}

inline void put_in_tile(const Activation* row, int blocks, int lane, std::byte* tile) noexcept {
  auto* to = reinterpret_cast<ActivationTile*>(tile);
  for (; blocks > 0; --blocks, ++row, ++to) {
    std::copy_n(row->codes, block_columns, to->codes[lane]);
    to->scales[lane] = row->scale;
    to->scaled_sums[lane] = row->scaled_sum;
    for (int part = 0; part < 2; ++part) to->scaled_part_sums[part][lane] = row->scaled_part_sums[part];
  }
}

}  // namespace
}  // namespace inlay::cpu
