// Weights and activations as the matrix kernels read them: groups of 16 rows, blocks of 32 columns, one stream a group.
//
// A "quad" is four neighbouring columns of all 16 rows: 64 bytes, row r in bytes 4r to 4r+3. A block has eight, so a
// vector of any width holds whole rows and a broadcast of four activations serves all of them. Where codes have few
// bits, one byte holds the same column of several quads: nibble h of nibbles[v] belongs to quad v + 4h, bit pair s of
// pairs[p] to quad s + 4p, bit q of bits to quad q.
#pragma once

#include <cstdint>

namespace inlay::cpu {

inline constexpr int packed_rows = 16, block_columns = 32, block_quads = 8, super_blocks = 8;

using Quad = std::uint8_t[packed_rows][4];
using Halves = std::uint16_t[packed_rows];  // the bits of one binary16 (where said: bfloat16) for each row

// ---- weights: a stream of these
struct PackedQ4_0 {  // also IQ4_NL
  Quad nibbles[4];
  Halves scales;
};
struct PackedQ4_1 {
  Quad nibbles[4];
  Halves scales, minima;
};
struct PackedQ5_0 {
  Quad nibbles[4], bits;
  Halves scales;
};
struct PackedQ5_1 {
  Quad nibbles[4], bits;
  Halves scales, minima;
};
struct PackedQ8_0 {  // signed
  Quad codes[8];
  Halves scales;
};
struct PackedQ2_K {  // steps: what a scale (low nibble) and a minimum (high nibble) of 16 columns are multiplied with
  Halves scales, minima;
  struct {
    Quad pairs[2];
    std::uint8_t steps[2][packed_rows];
  } blocks[super_blocks];
};
struct PackedQ3_K {  // also IQ1 and IQ2: three bits say which of their few values it is
  Halves scales;
  struct {
    Quad pairs[2], bits;
    std::int8_t steps[2][packed_rows];
  } blocks[super_blocks];
};
struct PackedQ4_K {
  Halves scales, minima;
  struct {
    Quad nibbles[4];
    std::uint8_t steps[packed_rows], minimum_steps[packed_rows];
  } blocks[super_blocks];
};
struct PackedQ5_K {
  Halves scales, minima;
  struct {
    Quad nibbles[4], bits;
    std::uint8_t steps[packed_rows], minimum_steps[packed_rows];
  } blocks[super_blocks];
};
struct PackedQ6_K {
  Halves scales;
  struct {
    Quad nibbles[4], pairs[2];
    std::int8_t steps[2][packed_rows];
  } blocks[super_blocks];
};
struct PackedIQ4_XS {  // also IQ3
  Halves scales;
  struct {
    Quad nibbles[4];
    std::int8_t steps[packed_rows];
  } blocks[super_blocks];
};
struct PackedMXFP4 {  // scales are bfloat16
  Quad nibbles[4];
  Halves scales;
};
struct PackedNVFP4 {
  struct {
    Quad nibbles[4];
    Halves scales[2];  // of 16 columns each
  } blocks[2];
};
template <int blocks_of_a_scale>
struct PackedTernary {  // codes 0 to 2 (Q2_0: 3)
  Halves scales;
  Quad pairs[blocks_of_a_scale][2];
};
struct PackedF32 {  // of one column; F16 and BF16 likewise
  float values[packed_rows];
};
struct PackedHalf {
  Halves values;
};

// ---- activations: 32 columns of one token, rounded to bytes; one cache line
struct alignas(64) Activation {
  std::int8_t codes[block_columns];
  float scale;
  std::int32_t offset, part_offsets[2];   // -128 times the sum of the codes: all, and 16 columns each
  float scaled_sum, scaled_part_sums[2];  // of the codes, times scale
};
static_assert(sizeof(Activation) == 64);

// The same block of 16 tokens, for processors that multiply whole tiles.
struct alignas(64) ActivationTile {
  static constexpr int tokens = 16;
  std::int8_t codes[tokens][block_columns];
  float scales[tokens], scaled_sums[tokens], scaled_part_sums[2][tokens];
};

}  // namespace inlay::cpu
