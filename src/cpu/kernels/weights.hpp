// The types of packed weights: what a code is and what it is multiplied with. A new type is one struct here, its layout
// in packed.hpp and its line in the table of linear.hpp.
#pragma once

#include "cpu/packed.hpp"
#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {

// ---- pieces of codes: quad q of a block, the rows of vector v
template <class A, int q>
INLAY_INLINE typename A::Bytes nibble(const Quad (&nibbles)[4], int v) noexcept {
  return A::template field<q / 4 * 4, 15>(A::load(nibbles[q % 4][v * A::rows]));
}
template <class A, int q, int to>  // as bits `to` and `to` + 1
INLAY_INLINE typename A::Bytes pair(const Quad (&pairs)[2], int v) noexcept {
  return A::template field<q % 4 * 2 - to, (3 << to)>(A::load(pairs[q / 4][v * A::rows]));
}
template <class A, int q, int to>
INLAY_INLINE typename A::Bytes bit(const Quad& bits, int v) noexcept {
  return A::template field<q - to, (1 << to)>(A::load(bits[v * A::rows]));
}

// ---- what most types are: unsigned codes of some bits less `zero`, one scale for `block_columns / parts` columns,
// maybe a minimum, `blocks` blocks in one element of the stream
template <int code_bits, int code_zero, int scale_parts, bool with_minimum, int stream_blocks>
struct Form {
  static constexpr int bits = code_bits, zero = code_zero, parts = scale_parts, blocks = stream_blocks;
  static constexpr bool minimum = with_minimum;
};

// Scales as halves, alone or times small integers for each block or each of its parts; minima likewise.
template <class A>
struct HalfScales {
  static INLAY_INLINE auto scale(const auto& s, int, int, int v) noexcept { return A::halves(s.scales + v * A::rows); }
};
template <class A>
struct HalfMinima : HalfScales<A> {
  static INLAY_INLINE auto least(const auto& s, int, int, int v) noexcept { return A::halves(s.minima + v * A::rows); }
};
template <class A>
struct SteppedScales {
  static INLAY_INLINE auto scale(const auto& s, int b, int, int v) noexcept {
    return A::halves(s.scales + v * A::rows) * A::widen(s.blocks[b].steps + v * A::rows);
  }
};
template <class A>
struct SteppedMinima : SteppedScales<A> {
  static INLAY_INLINE auto least(const auto& s, int b, int, int v) noexcept {
    return A::halves(s.minima + v * A::rows) * A::widen(s.blocks[b].minimum_steps + v * A::rows);
  }
};
template <class A>
struct SteppedPartScales {
  static INLAY_INLINE auto scale(const auto& s, int b, int part, int v) noexcept {
    return A::halves(s.scales + v * A::rows) * A::widen(s.blocks[b].steps[part] + v * A::rows);
  }
};

template <class A>
struct WeightQ4_0 : Form<4, 8, 1, false, 1>, HalfScales<A> {
  using Stream = PackedQ4_0;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return nibble<A, q>(s.nibbles, v);
  }
};

template <class A>
struct WeightQ4_1 : Form<4, 0, 1, true, 1>, HalfMinima<A> {
  using Stream = PackedQ4_1;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return nibble<A, q>(s.nibbles, v);
  }
};

template <class A>
struct WeightQ5_0 : Form<5, 16, 1, false, 1>, HalfScales<A> {
  using Stream = PackedQ5_0;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return A::merge(nibble<A, q>(s.nibbles, v), bit<A, q, 4>(s.bits, v));
  }
};

template <class A>
struct WeightQ5_1 : Form<5, 0, 1, true, 1>, HalfMinima<A> {
  using Stream = PackedQ5_1;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return A::merge(nibble<A, q>(s.nibbles, v), bit<A, q, 4>(s.bits, v));
  }
};

// Signed codes, with a bias where the instruction set multiplies unsigned weights only.
template <class A, int stream_blocks>
struct Signed : Form<8, A::signed_bias, 1, false, stream_blocks> {
  static INLAY_INLINE typename A::Bytes biased(typename A::Bytes codes) noexcept {
    if constexpr (A::signed_bias != 0) return A::flip_signs(codes);
    return codes;
  }
};

template <class A>
struct WeightQ8_0 : Signed<A, 1>, HalfScales<A> {
  using Stream = PackedQ8_0;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return WeightQ8_0::biased(A::load(s.codes[q][v * A::rows]));
  }
};

// The sixteen values of IQ4_NL and IQ4_XS, without and with the bias.
inline constexpr std::int8_t nonlinear_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                     1,    13,   25,  38,  53,  69,  89,  113};
inline constexpr std::int8_t biased_nonlinear_values[16] = {1,    24,   45,   63,  79,  93,  106, 118,
                                                            -127, -115, -103, -90, -75, -59, -39, -15};

template <class A, int q>
INLAY_INLINE typename A::Bytes nonlinear(const Quad (&nibbles)[4], int v) noexcept {
  return A::lookup(A::signed_bias == 0 ? nonlinear_values : biased_nonlinear_values, nibble<A, q>(nibbles, v));
}

template <class A>
struct WeightIQ4_NL : Signed<A, 1>, HalfScales<A> {
  using Stream = PackedQ4_0;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return nonlinear<A, q>(s.nibbles, v);
  }
};

template <class A>
struct WeightIQ4_XS : Signed<A, super_blocks>, SteppedScales<A> {
  using Stream = PackedIQ4_XS;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return nonlinear<A, q>(s.blocks[b].nibbles, v);
  }
};

// Twice the sixteen four-bit floats, and 16 more so that none is negative.
inline constexpr std::int8_t small_floats[16] = {16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4};

template <class A>
struct WeightMXFP4 : Form<5, 16, 1, false, 1> {
  using Stream = PackedMXFP4;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return A::lookup(small_floats, nibble<A, q>(s.nibbles, v));
  }
  static INLAY_INLINE auto scale(const Stream& s, int, int, int v) noexcept {
    return A::bfloats(s.scales + v * A::rows);
  }
};

template <class A>
struct WeightNVFP4 : Form<5, 16, 2, false, 2> {
  using Stream = PackedNVFP4;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return A::lookup(small_floats, nibble<A, q>(s.blocks[b].nibbles, v));
  }
  static INLAY_INLINE auto scale(const Stream& s, int b, int part, int v) noexcept {
    return A::halves(s.blocks[b].scales[part] + v * A::rows);
  }
};

template <class A, int blocks_of_a_scale>
struct WeightTernary : Form<2, 1, 1, false, blocks_of_a_scale>, HalfScales<A> {
  using Stream = PackedTernary<blocks_of_a_scale>;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return pair<A, q, 0>(s.pairs[b], v);
  }
};

template <class A>
struct WeightQ2_K : Form<2, 0, 2, true, super_blocks> {
  using Stream = PackedQ2_K;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return pair<A, q, 0>(s.blocks[b].pairs, v);
  }
  static INLAY_INLINE auto scale(const Stream& s, int b, int part, int v) noexcept {
    return A::halves(s.scales + v * A::rows) *
           xsimd::to_float(A::ints(s.blocks[b].steps[part] + v * A::rows) & Ints<A>(15));
  }
  static INLAY_INLINE auto least(const Stream& s, int b, int part, int v) noexcept {
    return A::halves(s.minima + v * A::rows) * xsimd::to_float(A::ints(s.blocks[b].steps[part] + v * A::rows) >> 4);
  }
};

template <class A>
struct WeightQ3_K : Form<3, 4, 2, false, super_blocks>, SteppedPartScales<A> {
  using Stream = PackedQ3_K;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return A::merge(pair<A, q, 0>(s.blocks[b].pairs, v), bit<A, q, 2>(s.blocks[b].bits, v));
  }
};

template <class A>
struct WeightQ4_K : Form<4, 0, 1, true, super_blocks>, SteppedMinima<A> {
  using Stream = PackedQ4_K;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return nibble<A, q>(s.blocks[b].nibbles, v);
  }
};

template <class A>
struct WeightQ5_K : Form<5, 0, 1, true, super_blocks>, SteppedMinima<A> {
  using Stream = PackedQ5_K;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return A::merge(nibble<A, q>(s.blocks[b].nibbles, v), bit<A, q, 4>(s.blocks[b].bits, v));
  }
};

template <class A>
struct WeightQ6_K : Form<6, 32, 2, false, super_blocks>, SteppedPartScales<A> {
  using Stream = PackedQ6_K;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int b, int v) noexcept {
    return A::merge(nibble<A, q>(s.blocks[b].nibbles, v), pair<A, q, 4>(s.blocks[b].pairs, v));
  }
};

// ---- an unpacked group: codes as bytes, scales as floats. Types of the same form share the code that reads it.
template <class Of>
struct PanelBlock {
  Quad codes[block_quads];
  float scales[Of::parts][packed_rows];
  float minima[Of::minimum ? Of::parts : 0][packed_rows];
};

template <class A, int code_bits, int code_zero, int scale_parts, bool with_minimum>
struct Panel : Form<code_bits, code_zero, scale_parts, with_minimum, 1> {
  using Stream = PanelBlock<Panel>;
  template <int q>
  static INLAY_INLINE auto codes(const Stream& s, int, int v) noexcept {
    return A::load(s.codes[q][v * A::rows]);
  }
  static INLAY_INLINE auto scale(const Stream& s, int, int part, int v) noexcept {
    return Floats<A>::load_unaligned(s.scales[part] + v * A::rows);
  }
  static INLAY_INLINE auto least(const Stream& s, int, int part, int v) noexcept {
    return Floats<A>::load_unaligned(s.minima[part] + v * A::rows);
  }
};
// Where any unsigned byte can be multiplied, codes are `signed_bias` too large or not at all: then a sum begins with
// what makes up for it, as it stands in the activations.
template <class A, class W>
using PanelOf = std::conditional_t<A::signed_bias == 0, Panel<A, W::bits, W::zero, W::parts, W::minimum>,
                                   Panel<A, 8, W::zero == 0 ? 0 : A::signed_bias, W::parts, W::minimum>>;

// ---- weights that are numbers already: a stream of columns
template <class A>
struct WeightF32 {
  using Stream = PackedF32;
  static INLAY_INLINE auto column(const Stream& s, int v) noexcept {
    return Floats<A>::load_unaligned(s.values + v * A::rows);
  }
};
template <class A>
struct WeightF16 {
  using Stream = PackedHalf;
  static INLAY_INLINE auto column(const Stream& s, int v) noexcept { return A::halves(s.values + v * A::rows); }
};
template <class A>
struct WeightBF16 {
  using Stream = PackedHalf;
  static INLAY_INLINE auto column(const Stream& s, int v) noexcept { return A::bfloats(s.values + v * A::rows); }
};

// The same as pairs of columns in bfloat16, for processors that multiply those; and a group of these, unpacked. `last`:
// of a column that has no partner.
template <class A>
struct PairsF16 {
  static INLAY_INLINE auto pairs(const std::uint16_t* two) noexcept { return A::pairs_of_halves(two); }
  static INLAY_INLINE auto last(const std::uint16_t* one) noexcept { return A::half_pairs_of_halves(one); }
};
template <class A>
struct PairsBF16 {
  static INLAY_INLINE auto pairs(const std::uint16_t* two) noexcept { return A::pairs_of_bfloats(two); }
  static INLAY_INLINE auto last(const std::uint16_t* one) noexcept { return A::half_pairs_of_bfloats(one); }
};
template <class A>
struct PairsPanel {
  static INLAY_INLINE auto pairs(const std::uint16_t* two) noexcept { return A::load(two); }
  static INLAY_INLINE auto last(const std::uint16_t* one) noexcept { return A::load(one); }
};

}  // namespace
}  // namespace inlay::cpu
