// Quantizers of the small blocks, one encode() for each, and the table that finds them by type.
#include "gguf/quantize.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>

#include "base/half.hpp"
#include "gguf/bits.hpp"
#include "gguf/encode.hpp"
#include "gguf/fit.hpp"

namespace inlay::inline v0::gguf {
namespace {

using base::float_to_half;

void encode(const float* values, float& number) { number = *values; }
void encode(const float* values, Float16& number) { number.bits = float_to_half(*values); }
void encode(const float* values, BFloat16& number) { number.bits = base::float_to_bfloat16(*values); }

// Rounds a half up, as the offset types do.
int code_of(float value, int codes) { return round_to(std::floor(value + 0.5f), 0, codes - 1); }

void set_high_bit(std::uint8_t (&high)[4], int i, int code) {
  high[i / 8] = static_cast<std::uint8_t>(high[i / 8] | (code >> 4 & 1) << (i % 8));
}

void set_nibble(std::uint8_t& byte, int i, int code) {
  byte = static_cast<std::uint8_t>(byte | (code & 15) << (4 * i));
}

// Q4_0 and Q5_0: the farthest value gets code 0.
template <class Block>
void encode_symmetric(const float* values, Block& block, int codes) {
  const int middle = codes / 2;
  const float scale = farthest(values, 32) / static_cast<float>(-middle);
  block.scale = float_to_half(scale);
  for (int i = 0; i < 32; ++i) {
    const int code = code_of(values[i] * inverse(scale) + static_cast<float>(middle), codes);
    set_nibble(block.codes[i % 16], i / 16, code);
    if constexpr (requires { block.high; }) set_high_bit(block.high, i, code);
  }
}
void encode(const float* values, BlockQ4_0& block) { encode_symmetric(values, block, 16); }
void encode(const float* values, BlockQ5_0& block) { encode_symmetric(values, block, 32); }

// Q4_1 and Q5_1: from the least value to the greatest.
template <class Block>
void encode_from_minimum(const float* values, Block& block, int codes) {
  const auto [least, greatest] = std::minmax_element(values, values + 32);
  const float scale = (*greatest - *least) / static_cast<float>(codes - 1);
  block.scale = float_to_half(scale);
  block.minimum = float_to_half(*least);
  for (int i = 0; i < 32; ++i) {
    const int code = code_of((values[i] - *least) * inverse(scale), codes);
    set_nibble(block.codes[i % 16], i / 16, code);
    if constexpr (requires { block.high; }) set_high_bit(block.high, i, code);
  }
}
void encode(const float* values, BlockQ4_1& block) { encode_from_minimum(values, block, 16); }
void encode(const float* values, BlockQ5_1& block) { encode_from_minimum(values, block, 32); }

void encode(const float* values, BlockQ8_0& block) {
  const float scale = std::fabs(farthest(values, 32)) / 127;
  block.scale = float_to_half(scale);
  for (int i = 0; i < 32; ++i) {
    block.codes[i] = static_cast<std::int8_t>(round_to(std::round(values[i] * inverse(scale)), -127, 127));
  }
}

void encode(const float* values, BlockIQ4_NL& block) {
  const float scale = fit_nonlinear(values);
  block.scale = float_to_half(scale);
  for (int i = 0; i < 32; ++i) {
    set_nibble(block.codes[i % 16], i / 16, nearest_entry(nonlinear_values, values[i] * inverse(scale)));
  }
}

void encode(const float* values, BlockMXFP4& block) {
  const float peak = std::fabs(farthest(values, 32));
  if (peak > 0) block.exponent = static_cast<std::uint8_t>(std::clamp(std::ilogb(peak), -125, 127) + 125);
  for (int i = 0; i < 32; ++i) {
    const float doubled = values[i] / halved_power(block.exponent);
    set_nibble(block.codes[i % 16], i / 16, nearest_entry(doubled_fp4_values, doubled));
  }
}

// To the nearest float of 4 exponent and 3 mantissa bits, halves up; the value is not negative.
std::uint8_t to_fp8(float value) {
  if (!(value < 448)) return 0x7E;
  if (value < 0x1p-6f) return static_cast<std::uint8_t>(std::min(7.0f, value * 512 + 0.5f));
  const std::uint32_t rounded = (std::bit_cast<std::uint32_t>(value) + (1u << 19)) >> 20;
  return static_cast<std::uint8_t>(std::min(rounded - ((127u - 7u) << 3), 0x7Eu));
}

void encode(const float* values, BlockNVFP4& block) {
  for (int part = 0; part < 4; ++part) {
    block.scales[part] = to_fp8(std::fabs(farthest(values + 16 * part, 16)) / 6);
    const float inverse_scale = inverse(halved_fp8(block.scales[part]));
    for (int i = 0; i < 16; ++i) {
      const int code = nearest_entry(doubled_fp4_values, values[16 * part + i] * inverse_scale);
      set_nibble(block.codes[8 * part + i % 8], i / 8, code);
    }
  }
}

void encode(const float* values, BlockQ1_0& block) {
  float sum = 0;
  for (int i = 0; i < 128; ++i) {
    sum += std::fabs(values[i]);
    if (values[i] >= 0) block.bits[i / 8] = static_cast<std::uint8_t>(block.bits[i / 8] | 1 << (i % 8));
  }
  block.scale = float_to_half(sum / 128);
}

// -1, 0 or 1 as 0, 1 or 2: the nearest multiple of the farthest value.
int ternary(float value, float inverse_scale) { return round_to(std::round(value * inverse_scale), -1, 1) + 1; }

void encode(const float* values, BlockQ2_0& block) {
  const float scale = std::fabs(farthest(values, 64));
  block.scale = float_to_half(scale);
  for (int i = 0; i < 64; ++i) {
    const int code = ternary(values[i], inverse(scale));
    block.codes[i / 4] = static_cast<std::uint8_t>(block.codes[i / 4] | code << (2 * (i % 4)));
  }
}

void encode(const float* values, BlockTQ2_0& block) {
  const float scale = std::fabs(farthest(values, 256));
  block.scale = float_to_half(scale);
  for (int i = 0; i < 256; ++i) {
    std::uint8_t& byte = block.codes[i / 128 * 32 + i % 32];
    byte = static_cast<std::uint8_t>(byte | ternary(values[i], inverse(scale)) << (2 * (i % 128 / 32)));
  }
}

// Digits in base 3, `stride` values apart, as the fraction of 256 that gives them back.
std::uint8_t ternary_byte(const float* values, int stride, int digits, float inverse_scale) {
  int number = 0;
  for (int i = 0; i < 5; ++i) number = 3 * number + (i < digits ? ternary(values[i * stride], inverse_scale) : 0);
  return static_cast<std::uint8_t>((number * 256 + 242) / 243);
}

void encode(const float* values, BlockTQ1_0& block) {
  const float scale = std::fabs(farthest(values, 256)), inverse_scale = inverse(scale);
  block.scale = float_to_half(scale);
  for (int i = 0; i < 32; ++i) block.codes[i] = ternary_byte(values + i, 32, 5, inverse_scale);
  for (int i = 0; i < 16; ++i) block.codes[32 + i] = ternary_byte(values + 160 + i, 16, 5, inverse_scale);
  for (int i = 0; i < 4; ++i) block.tail[i] = ternary_byte(values + 240 + i, 4, 4, inverse_scale);
}

using gguf::encode;  // those of encode.hpp, for the table below

template <class Block>
void encode_all(const float* values, void* out, std::size_t block_values, std::size_t count) {
  auto* bytes = static_cast<std::byte*>(out);
  for (std::size_t i = 0; i < count; i += block_values, bytes += sizeof(Block)) {
    Block block{};
    encode(values + i, block);
    std::memcpy(bytes, &block, sizeof(Block));
  }
}

struct Encoder {
  Type type;
  void (*encode)(const float* values, void* blocks, std::size_t block_values, std::size_t count);
};

constexpr Encoder encoders[] = {
    {Type::F32, encode_all<float>},          {Type::F16, encode_all<Float16>},
    {Type::BF16, encode_all<BFloat16>},      {Type::Q4_0, encode_all<BlockQ4_0>},
    {Type::Q4_1, encode_all<BlockQ4_1>},     {Type::Q5_0, encode_all<BlockQ5_0>},
    {Type::Q5_1, encode_all<BlockQ5_1>},     {Type::Q8_0, encode_all<BlockQ8_0>},
    {Type::Q2_K, encode_all<BlockQ2_K>},     {Type::Q3_K, encode_all<BlockQ3_K>},
    {Type::Q4_K, encode_all<BlockQ4_K>},     {Type::Q5_K, encode_all<BlockQ5_K>},
    {Type::Q6_K, encode_all<BlockQ6_K>},     {Type::IQ4_NL, encode_all<BlockIQ4_NL>},
    {Type::IQ4_XS, encode_all<BlockIQ4_XS>}, {Type::MXFP4, encode_all<BlockMXFP4>},
    {Type::NVFP4, encode_all<BlockNVFP4>},   {Type::Q1_0, encode_all<BlockQ1_0>},
    {Type::Q2_0, encode_all<BlockQ2_0>},     {Type::TQ1_0, encode_all<BlockTQ1_0>},
    {Type::TQ2_0, encode_all<BlockTQ2_0>},
};

const Encoder* find_encoder(Type type) {
  const auto* found = std::ranges::find(encoders, type, &Encoder::type);
  return found == std::end(encoders) ? nullptr : found;
}

}  // namespace

bool can_quantize(Type type) noexcept { return find_encoder(type) != nullptr; }

void quantize(Type type, const float* values, void* blocks, std::size_t count) noexcept {
  if (const Encoder* encoder = find_encoder(type)) {
    encoder->encode(values, blocks, type_info(type).block_values, count);
  }
}

}  // namespace inlay::inline v0::gguf
