// One decode() for each block, each a line of arithmetic, and the table that finds it by type.
#include "gguf/dequantize.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "base/half.hpp"
#include "gguf/bits.hpp"
#include "gguf/blocks.hpp"
#include "gguf/decode_codebook.hpp"

namespace inlay::inline v0::gguf {
namespace {

using base::half_to_float;

template <class Number>
void decode(const Number& number, float* out) {
  *out = static_cast<float>(number);
}
void decode(const Float16& number, float* out) { *out = half_to_float(number.bits); }
void decode(const BFloat16& number, float* out) { *out = base::bfloat16_to_float(number.bits); }

void decode(const BlockQ4_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i) out[i] = scale * static_cast<float>(nibble(block.codes[i % 16], i / 16) - 8);
}

void decode(const BlockQ4_1& block, float* out) {
  const float scale = half_to_float(block.scale), minimum = half_to_float(block.minimum);
  for (int i = 0; i < 32; ++i) out[i] = scale * static_cast<float>(nibble(block.codes[i % 16], i / 16)) + minimum;
}

void decode(const BlockQ5_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>((nibble(block.codes[i % 16], i / 16) | bit(block.high, i) << 4) - 16);
  }
}

void decode(const BlockQ5_1& block, float* out) {
  const float scale = half_to_float(block.scale), minimum = half_to_float(block.minimum);
  for (int i = 0; i < 32; ++i) {
    out[i] = scale * static_cast<float>(nibble(block.codes[i % 16], i / 16) | bit(block.high, i) << 4) + minimum;
  }
}

template <class Block>
void decode_bytes(const Block& block, float scale, float* out) {
  for (const std::int8_t code : block.codes) *out++ = scale * static_cast<float>(code);
}
void decode(const BlockQ8_0& block, float* out) { decode_bytes(block, half_to_float(block.scale), out); }
void decode(const BlockQ8_1& block, float* out) { decode_bytes(block, half_to_float(block.scale), out); }
void decode(const BlockQ8_K& block, float* out) { decode_bytes(block, block.scale, out); }

void decode(const BlockIQ4_NL& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 32; ++i) out[i] = scale * nonlinear_values[nibble(block.codes[i % 16], i / 16)];
}

void decode(const BlockMXFP4& block, float* out) {
  const float scale = halved_power(block.exponent);
  for (int i = 0; i < 32; ++i) out[i] = scale * doubled_fp4_values[nibble(block.codes[i % 16], i / 16)];
}

void decode(const BlockNVFP4& block, float* out) {
  for (int i = 0; i < 64; ++i) {
    const int code = nibble(block.codes[i / 16 * 8 + i % 8], i % 16 / 8);
    out[i] = halved_fp8(block.scales[i / 16]) * doubled_fp4_values[code];
  }
}

void decode(const BlockQ1_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 128; ++i) out[i] = bit(block.bits, i) ? scale : -scale;
}

void decode(const BlockQ2_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 64; ++i) out[i] = scale * static_cast<float>((block.codes[i / 4] >> (2 * (i % 4)) & 3) - 1);
}

void decode(const BlockQ2_K& block, float* out) {
  const float scale = half_to_float(block.scale), minimum = half_to_float(block.minimum);
  for (int i = 0; i < 256; ++i) {
    const std::uint8_t part = block.scales[i / 16];
    const float part_scale = scale * static_cast<float>(nibble(part, 0));
    const float part_minimum = minimum * static_cast<float>(nibble(part, 1));
    out[i] = part_scale * static_cast<float>(two_bits(block.codes, i)) - part_minimum;
  }
}

void decode(const BlockQ3_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 256; ++i) {
    const float part_scale = scale * static_cast<float>(packed_scale_16(block.scales, i / 16) - 32);
    out[i] = part_scale * static_cast<float>((two_bits(block.codes, i) | plane_bit(block.high, i) << 2) - 4);
  }
}

void decode(const BlockQ4_K& block, float* out) {
  const float scale = half_to_float(block.scale), minimum = half_to_float(block.minimum);
  for (int i = 0; i < 256; ++i) {
    const float part_scale = scale * static_cast<float>(packed_scale(block.scales, i / 32));
    const float part_minimum = minimum * static_cast<float>(packed_minimum(block.scales, i / 32));
    out[i] = part_scale * static_cast<float>(four_bits(block.codes, i)) - part_minimum;
  }
}

void decode(const BlockQ5_K& block, float* out) {
  const float scale = half_to_float(block.scale), minimum = half_to_float(block.minimum);
  for (int i = 0; i < 256; ++i) {
    const float part_scale = scale * static_cast<float>(packed_scale(block.scales, i / 32));
    const float part_minimum = minimum * static_cast<float>(packed_minimum(block.scales, i / 32));
    const int code = four_bits(block.codes, i) | plane_bit(block.high, i) << 4;
    out[i] = part_scale * static_cast<float>(code) - part_minimum;
  }
}

void decode(const BlockQ6_K& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 256; ++i) {
    const int low = nibble(block.codes[i / 128 * 64 + i % 64], i % 128 / 64);
    const int part = block.scales[i / 16];
    out[i] = scale * static_cast<float>(part) * static_cast<float>((low | two_bits(block.high, i) << 4) - 32);
  }
}

void decode(const BlockIQ4_XS& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 256; ++i) {
    const int part = i / 32;
    const int six_bits = nibble(block.scales_low[part / 2], part % 2) | (block.scales_high >> (2 * part) & 3) << 4;
    const int code = nibble(block.codes[part * 16 + i % 16], i % 32 / 16);
    out[i] = scale * static_cast<float>(six_bits - 32) * nonlinear_values[code];
  }
}

// Digit `i` of a byte that holds a fraction in base 3.
int ternary_digit(std::uint8_t byte, int i) {
  constexpr int powers[] = {1, 3, 9, 27, 81};
  return (byte * powers[i] & 255) * 3 >> 8;
}

void decode(const BlockTQ1_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 160; ++i) out[i] = scale * static_cast<float>(ternary_digit(block.codes[i % 32], i / 32) - 1);
  for (int i = 0; i < 80; ++i) {
    out[160 + i] = scale * static_cast<float>(ternary_digit(block.codes[32 + i % 16], i / 16) - 1);
  }
  for (int i = 0; i < 16; ++i) out[240 + i] = scale * static_cast<float>(ternary_digit(block.tail[i % 4], i / 4) - 1);
}

void decode(const BlockI2_S& block, float* out) {  // without the tensor's scale
  for (int i = 0; i < 128; ++i) out[i] = static_cast<float>((block.codes[i % 32] >> (6 - 2 * (i / 32)) & 3) - 1);
}

void decode(const BlockTQ2_0& block, float* out) {
  const float scale = half_to_float(block.scale);
  for (int i = 0; i < 256; ++i) out[i] = scale * static_cast<float>(two_bits(block.codes, i) - 1);
}

template <class Block>
void decode_all(const void* blocks, float* out, std::size_t block_values, std::size_t count) {
  const auto* bytes = static_cast<const std::byte*>(blocks);
  for (std::size_t i = 0; i < count; i += block_values, bytes += sizeof(Block)) {
    Block block;
    std::memcpy(&block, bytes, sizeof(Block));
    decode(block, out + i);
  }
}

struct Decoder {
  Type type;
  void (*decode)(const void* blocks, float* out, std::size_t block_values, std::size_t count);
};

constexpr Decoder decoders[] = {
    {Type::F32, decode_all<float>},
    {Type::F64, decode_all<double>},
    {Type::F16, decode_all<Float16>},
    {Type::BF16, decode_all<BFloat16>},
    {Type::I8, decode_all<std::int8_t>},
    {Type::I16, decode_all<std::int16_t>},
    {Type::I32, decode_all<std::int32_t>},
    {Type::I64, decode_all<std::int64_t>},
    {Type::Q4_0, decode_all<BlockQ4_0>},
    {Type::Q4_1, decode_all<BlockQ4_1>},
    {Type::Q5_0, decode_all<BlockQ5_0>},
    {Type::Q5_1, decode_all<BlockQ5_1>},
    {Type::Q8_0, decode_all<BlockQ8_0>},
    {Type::Q8_1, decode_all<BlockQ8_1>},
    {Type::Q8_K, decode_all<BlockQ8_K>},
    {Type::Q2_K, decode_all<BlockQ2_K>},
    {Type::Q3_K, decode_all<BlockQ3_K>},
    {Type::Q4_K, decode_all<BlockQ4_K>},
    {Type::Q5_K, decode_all<BlockQ5_K>},
    {Type::Q6_K, decode_all<BlockQ6_K>},
    {Type::IQ4_NL, decode_all<BlockIQ4_NL>},
    {Type::IQ4_XS, decode_all<BlockIQ4_XS>},
    {Type::MXFP4, decode_all<BlockMXFP4>},
    {Type::NVFP4, decode_all<BlockNVFP4>},
    {Type::Q1_0, decode_all<BlockQ1_0>},
    {Type::Q2_0, decode_all<BlockQ2_0>},
    {Type::TQ1_0, decode_all<BlockTQ1_0>},
    {Type::TQ2_0, decode_all<BlockTQ2_0>},
    {Type::I2_S, decode_all<BlockI2_S>},
    {Type::IQ2_XXS, decode_all<BlockIQ2_XXS>},
    {Type::IQ2_XS, decode_all<BlockIQ2_XS>},
    {Type::IQ2_S, decode_all<BlockIQ2_S>},
    {Type::IQ3_XXS, decode_all<BlockIQ3_XXS>},
    {Type::IQ3_S, decode_all<BlockIQ3_S>},
    {Type::IQ1_S, decode_all<BlockIQ1_S>},
    {Type::IQ1_M, decode_all<BlockIQ1_M>},
};
static_assert(std::size(decoders) == std::size(type_table));

}  // namespace

void dequantize(Type type, const void* blocks, float* values, std::size_t count) noexcept {
  const auto* decoder = std::ranges::find(decoders, type, &Decoder::type);
  decoder->decode(blocks, values, type_info(type).block_values, count);
}

}  // namespace inlay::inline v0::gguf
