// The quantized blocks of GGUF files as plain structs: little-endian, and laid out so that none needs padding.
#pragma once

#include <cstdint>

namespace inlay::inline v0::gguf {

using Half = std::uint16_t;  // the bits of a binary16

struct Float16 {
  Half bits;
};
struct BFloat16 {  // the upper half of a float
  std::uint16_t bits;
};

// ---- 32 values, one scale. The low nibbles are values 0-15, the high nibbles values 16-31.
struct BlockQ4_0 {  // scale * (code - 8)
  Half scale;
  std::uint8_t codes[16];
};
struct BlockQ4_1 {  // scale * code + minimum
  Half scale, minimum;
  std::uint8_t codes[16];
};
struct BlockQ5_0 {  // scale * (code - 16), the fifth bit of value i is bit i of `high`
  Half scale;
  std::uint8_t high[4];
  std::uint8_t codes[16];
};
struct BlockQ5_1 {  // scale * code + minimum
  Half scale, minimum;
  std::uint8_t high[4];
  std::uint8_t codes[16];
};
struct BlockQ8_0 {  // scale * code
  Half scale;
  std::int8_t codes[32];
};
struct BlockQ8_1 {  // activations only; `sum` is scale times the sum of the codes
  Half scale, sum;
  std::int8_t codes[32];
};
struct BlockIQ4_NL {  // scale * nonlinear_values[code]
  Half scale;
  std::uint8_t codes[16];
};
struct BlockMXFP4 {  // 2^(exponent - 127) times a four-bit float
  std::uint8_t exponent;
  std::uint8_t codes[16];
};

// ---- other small blocks
struct BlockNVFP4 {  // 64 values: an eight-bit float scale for each 16 values, times a four-bit float
  std::uint8_t scales[4];
  std::uint8_t codes[32];
};
struct BlockQ1_0 {  // 128 values: the bit set: scale, else -scale
  Half scale;
  std::uint8_t bits[16];
};
struct BlockQ2_0 {  // 64 values: scale * (code - 1), four codes a byte
  Half scale;
  std::uint8_t codes[16];
};

// ---- 256 values: super-blocks with quantized scales for their parts
struct BlockQ2_K {  // 16 parts: scale * (low nibble) * code - minimum * (high nibble)
  std::uint8_t scales[16];
  std::uint8_t codes[64];
  Half scale, minimum;
};
struct BlockQ3_K {  // 16 parts; the third bit of value i is bit i / 32 of high[i % 32]
  std::uint8_t high[32];
  std::uint8_t codes[64];
  std::uint8_t scales[12];
  Half scale;
};
struct BlockQ4_K {  // 8 parts: six-bit scales and minima, packed
  Half scale, minimum;
  std::uint8_t scales[12];
  std::uint8_t codes[128];
};
struct BlockQ5_K {  // 8 parts; the fifth bit of value i is bit i / 32 of high[i % 32]
  Half scale, minimum;
  std::uint8_t scales[12];
  std::uint8_t high[32];
  std::uint8_t codes[128];
};
struct BlockQ6_K {  // 16 parts: scale * scales[part] * (code - 32); four low bits in `codes`, two in `high`
  std::uint8_t codes[128];
  std::uint8_t high[64];
  std::int8_t scales[16];
  Half scale;
};
struct BlockQ8_K {  // activations only; sums[i] is the sum of 16 codes
  float scale;
  std::int8_t codes[256];
  std::int16_t sums[16];
};
struct BlockIQ4_XS {  // 8 parts: scale * (six-bit scale - 32) * nonlinear_values[code]
  Half scale;
  std::uint16_t scales_high;
  std::uint8_t scales_low[4];
  std::uint8_t codes[128];
};
struct BlockTQ1_0 {  // ternary, in base 3: five values a byte, in `tail` four
  std::uint8_t codes[48];
  std::uint8_t tail[4];
  Half scale;
};
struct BlockI2_S {  // 128 values: code - 1, four planes of 32, the first in the top bits; a scale behind the tensor
  std::uint8_t codes[32];
};
struct BlockTQ2_0 {  // scale * (code - 1)
  std::uint8_t codes[64];
  Half scale;
};

// ---- 256 values: indices into a codebook of points of 8 (IQ1, IQ2) or 4 (IQ3) values
struct BlockIQ2_XXS {  // for 32 values: four indices, then 4 x 7 sign bits and a four-bit scale
  Half scale;
  struct {
    std::uint8_t indices[4], signs[4];
  } parts[8];
};
struct BlockIQ2_XS {  // nine bits of index and seven of signs
  Half scale;
  std::uint16_t points[32];
  std::uint8_t scales[8];
};
struct BlockIQ2_S {
  Half scale;
  std::uint8_t indices[32];
  std::uint8_t signs[32];
  std::uint8_t high[8];
  std::uint8_t scales[8];
};
struct BlockIQ3_XXS {  // `signs`: for 32 values 4 x 7 sign bits and a four-bit scale
  Half scale;
  std::uint8_t indices[64];
  std::uint8_t signs[8][4];
};
struct BlockIQ3_S {
  Half scale;
  std::uint8_t indices[64];
  std::uint8_t high[8];
  std::uint8_t signs[32];
  std::uint8_t scales[4];
};
struct BlockIQ1_S {  // `high`: for 32 values 4 x 3 bits of index, a three-bit scale, the sign of the shift
  Half scale;
  std::uint8_t indices[32];
  std::uint16_t high[8];
};
struct BlockIQ1_M {  // the scale's four nibbles are the top ones of `scales`
  std::uint8_t indices[32];
  std::uint8_t high[16];
  std::uint16_t scales[4];
};

// What the four-bit codes of IQ4_NL and IQ4_XS stand for, and twice what those of MXFP4 and NVFP4 do.
inline constexpr std::int8_t nonlinear_values[16] = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                     1,    13,   25,  38,  53,  69,  89,  113};
inline constexpr std::int8_t doubled_fp4_values[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

static_assert(sizeof(BlockQ4_0) == 18 && sizeof(BlockQ4_1) == 20 && sizeof(BlockQ5_0) == 22);
static_assert(sizeof(BlockQ5_1) == 24 && sizeof(BlockQ8_0) == 34 && sizeof(BlockQ8_1) == 36);
static_assert(sizeof(BlockIQ4_NL) == 18 && sizeof(BlockMXFP4) == 17 && sizeof(BlockNVFP4) == 36);
static_assert(sizeof(BlockQ1_0) == 18 && sizeof(BlockQ2_0) == 18);
static_assert(sizeof(BlockQ2_K) == 84 && sizeof(BlockQ3_K) == 110 && sizeof(BlockQ4_K) == 144);
static_assert(sizeof(BlockQ5_K) == 176 && sizeof(BlockQ6_K) == 210 && sizeof(BlockQ8_K) == 292);
static_assert(sizeof(BlockIQ4_XS) == 136 && sizeof(BlockTQ1_0) == 54 && sizeof(BlockTQ2_0) == 66);
static_assert(sizeof(BlockIQ2_XXS) == 66 && sizeof(BlockIQ2_XS) == 74 && sizeof(BlockIQ2_S) == 82);
static_assert(sizeof(BlockIQ3_XXS) == 98 && sizeof(BlockIQ3_S) == 110);
static_assert(sizeof(BlockIQ1_S) == 50 && sizeof(BlockIQ1_M) == 56);

}  // namespace inlay::inline v0::gguf
