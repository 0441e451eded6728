// The types of packed weights whose codes name one of a few values: IQ1, IQ2 and IQ3.
#pragma once

#include "cpu/kernels/weights.hpp"

namespace inlay::cpu {
namespace {

// The few values of the codebook types, by level and then the same with the other sign or shift, and so much more that
// none is negative: eight times IQ1's, IQ2's, IQ3_XXS's and IQ3_S's.
inline constexpr std::int8_t iq1_values[16] = {16 - 7, 16 + 1, 16 + 9, 0, 16 - 9, 16 - 1, 16 + 7};
inline constexpr std::int8_t iq2_values[16] = {64 + 8, 64 + 25, 64 + 43, 0, 64 - 8, 64 - 25, 64 - 43};
inline constexpr std::int8_t iq3_xxs_values[16] = {64 + 4,  64 + 12, 64 + 20, 64 + 28, 64 + 36, 64 + 44,
                                                   64 + 52, 64 + 62, 64 - 4,  64 - 12, 64 - 20, 64 - 28,
                                                   64 - 36, 64 - 44, 64 - 52, 64 - 62};
inline constexpr std::int8_t iq3_s_values[16] = {17, 19, 21, 23, 25, 27, 29, 31, 15, 13, 11, 9, 7, 5, 3, 1};

// Three bits choose the value; a scale of 16 columns is an odd number of eighths of the super-block's.
template <class A, int bits, int zero, const std::int8_t (&values)[16]>
struct WeightOfSix : Form<bits, zero, 2, false, super_blocks> {
  using Stream = PackedQ3_K;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return A::lookup(values, A::merge(pair<A, q, 0>(s.blocks[b].pairs, v), bit<A, q, 2>(s.blocks[b].bits, v)));
  }
  static INLAY_INLINE auto scale(const Stream& s, int b, int part, int v) noexcept {
    return SteppedPartScales<A>::scale(s, b, part, v) * Floats<A>(0.125f);
  }
};

// Four bits choose the value; a scale of 32 columns is an odd number times 1 / `share` of the super-block's.
template <class A, int bits, int zero, const std::int8_t (&values)[16], int share>
struct WeightOfSixteen : Form<bits, zero, 1, false, super_blocks> {
  using Stream = PackedIQ4_XS;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return A::lookup(values, nibble<A, q>(s.blocks[b].nibbles, v));
  }
  static INLAY_INLINE auto scale(const Stream& s, int b, int part, int v) noexcept {
    return SteppedScales<A>::scale(s, b, part, v) * Floats<A>(1.0f / share);
  }
};

template <class A>
using WeightIQ1 = WeightOfSix<A, 5, 16, iq1_values>;
template <class A>
using WeightIQ2 = WeightOfSix<A, 7, 64, iq2_values>;

}  // namespace
}  // namespace inlay::cpu
