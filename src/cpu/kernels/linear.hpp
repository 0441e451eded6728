// Every type of weight with its kernels, and how a group is unpacked.
#pragma once

#include "cpu/kernels/glu.hpp"
#include "cpu/kernels/norm.hpp"
#include "cpu/kernels/products.hpp"
#include "cpu/kernels/quantize.hpp"
#include "cpu/kernels/tiles.hpp"
#include "cpu/kernels/weights_codebook.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

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
void unpack_pairs(const std::byte* group, int columns, std::byte* panel) noexcept {
  const auto* from = reinterpret_cast<const std::uint16_t*>(group);
  int column = 0;
  for (; column + 1 < columns; column += 2, from += 2 * packed_rows, panel += 64) A::store(panel, W::pairs(from));
  if (column < columns) A::store(panel, W::last(from));
}

template <class A, class W>
void unpack_floats(const std::byte* group, int columns, std::byte* panel) noexcept {
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
                       .form = RowForm::rounded,
                       .panel_bytes = 0,
                       .few = multiply_few<A, W>,
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
    row.unpack = unpack<A, W, P, W::zero - P::zero>;
    row.many = multiply_many<A, P, A::tokens, A::paired_tokens>;
  }
  return row;
}

template <class A, class W>
constexpr WeightKernels plain(gguf::Type type) noexcept {
  return {.type = static_cast<std::uint32_t>(type),
          .form = RowForm::floats,
          .panel_bytes = sizeof(PackedF32),
          .few = multiply_few<A, W>,
          .unpack = std::is_same_v<W, WeightF32<A>> ? nullptr : unpack_floats<A, W>,
          .many = multiply_many<A, WeightF32<A>, A::plain_tokens, A::paired_plain_tokens>};
}

// As products of bfloat16 where the processor has them, or exactly.
template <class A, template <class> class Pairs, template <class> class Exact>
constexpr WeightKernels halves(gguf::Type type) noexcept {
  if constexpr (has_pairs<A>) {
    return {.type = static_cast<std::uint32_t>(type),
            .form = RowForm::bfloats,
            .panel_bytes = sizeof(PackedHalf),
            .few = multiply_few<A, Pairs<A>>,
            .unpack = unpack_pairs<A, Pairs<A>>,
            .many = multiply_many<A, PairsPanel<A>, A::paired_plain_tokens, A::paired_plain_tokens>};
  } else {
    return plain<A, Exact<A>>(type);
  }
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
    halves<A, PairsF16, WeightF16>(gguf::Type::F16),
    halves<A, PairsBF16, WeightBF16>(gguf::Type::BF16),
    rounded<A, WeightNVFP4<A>>(gguf::Type::NVFP4),
    rounded<A, WeightIQ1<A>>(gguf::Type::IQ1_S),
    rounded<A, WeightIQ1<A>>(gguf::Type::IQ1_M),
    rounded<A, WeightIQ2<A>>(gguf::Type::IQ2_XXS),
    rounded<A, WeightIQ2<A>>(gguf::Type::IQ2_XS),
    rounded<A, WeightIQ2<A>>(gguf::Type::IQ2_S),
    rounded<A, WeightOfSixteen<A, 7, 64, iq3_xxs_values, 4>>(gguf::Type::IQ3_XXS),
    rounded<A, WeightOfSixteen<A, 5, 16, iq3_s_values, 1>>(gguf::Type::IQ3_S),
};

template <class A>
constexpr LinearKernels linear_kernels() noexcept {
  return {.weights = weight_table<A>,
          .weight_count = static_cast<int>(std::size(weight_table<A>)),
          .few_tokens = A::most_few,
          .tile = has_tiles<A> ? TileForm{ActivationTile::tokens, sizeof(ActivationTile), put_in_tile}
                               : TileForm{1, sizeof(Activation), nullptr},
          .quantize = quantize<A>,
          .bfloats = has_pairs<A> ? to_bfloats<A> : nullptr,
          .norm_row = norm_row<A>,
          .glu_row = glu_row<A>};
}

}  // namespace
}  // namespace inlay::cpu
