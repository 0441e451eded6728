// Weights of every type from random bits, with scales that keep the values sane.
#pragma once

#include "base/half.hpp"
#include "gguf/dequantize.hpp"
#include "tests/backends/harness.hpp"

namespace backends {

using inlay::gguf::Type;

// Where a block keeps its half-precision scales (-1: none), and a byte whose lowest bit is that of a code.
struct BlockForm {
  Type type;
  int scales[2];
  int code;
};

inline constexpr BlockForm block_forms[] = {
    {Type::F32, {-1, -1}, 0},   {Type::F16, {-1, -1}, 0},    {Type::BF16, {-1, -1}, 0},   {Type::Q4_0, {0, -1}, 2},
    {Type::Q4_1, {0, 2}, 4},    {Type::Q5_0, {0, -1}, 6},    {Type::Q5_1, {0, 2}, 8},     {Type::Q8_0, {0, -1}, 2},
    {Type::Q2_K, {80, 82}, 16}, {Type::Q3_K, {108, -1}, 32}, {Type::Q4_K, {0, 2}, 16},    {Type::Q5_K, {0, 2}, 48},
    {Type::Q6_K, {208, -1}, 0}, {Type::IQ4_NL, {0, -1}, 2},  {Type::IQ4_XS, {0, -1}, 8},  {Type::IQ2_XXS, {0, -1}, 2},
    {Type::IQ2_XS, {0, -1}, 2}, {Type::IQ2_S, {0, -1}, 2},   {Type::IQ3_XXS, {0, -1}, 2}, {Type::IQ3_S, {0, -1}, 2},
    {Type::IQ1_S, {0, -1}, 2},  {Type::IQ1_M, {-1, -1}, 0},  {Type::TQ1_0, {52, -1}, 0},  {Type::TQ2_0, {64, -1}, 0},
    {Type::MXFP4, {-1, -1}, 1}, {Type::NVFP4, {-1, -1}, 4},  {Type::Q1_0, {0, -1}, 2},    {Type::Q2_0, {0, -1}, 2},
};

inline bool is_float(Type type) { return type == Type::F32 || type == Type::F16 || type == Type::BF16; }

inline float as_bfloat(float x) { return inlay::base::bfloat16_to_float(inlay::base::float_to_bfloat16(x)); }

// Where a candidate multiplies halves as bfloat16.
inline bool rounds_halves(const Candidate& candidate, Type type) {
  return std::string_view(candidate.isa) == "avx512bf16" && (type == Type::F16 || type == Type::BF16);
}

// Where it does so with a type of cached keys or values.
inline bool multiplies_pairs(const Candidate& candidate, std::uint32_t type, bool cached) {
  return cached && type == INLAY_BF16 && rounds_halves(candidate, Type::BF16);
}

inline void put_half(std::byte* target, float value) {
  const std::uint16_t bits = inlay::base::float_to_half(value);
  std::memcpy(target, &bits, sizeof bits);
}

inline void fill_number(Type type, std::byte* target, float value) {
  const std::uint16_t bits =
      type == Type::F16 ? inlay::base::float_to_half(value) : inlay::base::float_to_bfloat16(value);
  if (type == Type::F32) {
    std::memcpy(target, &value, sizeof value);
  } else {
    std::memcpy(target, &bits, sizeof bits);
  }
}

// Scales that are not halves: exponents near 1, small floats of eight bits, nibbles spread over four words.
inline void tame_scales(Type type, std::byte* block, Random& random) {
  if (type == Type::MXFP4) block[0] = std::byte(118 + random.bits() % 12);
  for (int i = 0; type == Type::NVFP4 && i < 4; ++i) block[i] = std::byte(0x10 + random.bits() % 0x30);
  for (int i = 0; type == Type::IQ1_M && i < 4; ++i) {  // the top nibbles make 0x2??? of a half: about 0.01
    const int nibble = i == 3 ? 2 : static_cast<int>(random.bits() % 16);
    block[49 + 2 * i] = (block[49 + 2 * i] & std::byte{0x0F}) | std::byte(nibble << 4);
  }
}

// `count` values in whole blocks. `scale` bounds their half-precision scales, or the values of float types.
inline Bytes random_weight(Type type, std::int64_t count, Random& random, float scale = 0.02f) {
  const auto& info = inlay::gguf::type_info(type);
  const auto& form =
      *std::find_if(std::begin(block_forms), std::end(block_forms), [&](auto& f) { return f.type == type; });
  Bytes bytes(static_cast<std::size_t>(count) / info.block_values * info.block_bytes);
  for (std::size_t i = 0; i < bytes.size(); i += sizeof(std::uint32_t)) {
    const std::uint32_t bits = random.bits();
    std::memcpy(bytes.data() + i, &bits, std::min(sizeof bits, bytes.size() - i));
  }
  for (std::size_t block = 0; block < bytes.size(); block += info.block_bytes) {
    if (is_float(type)) fill_number(type, bytes.data() + block, random.uniform(-scale, scale));
    for (const int offset : form.scales) {
      if (offset >= 0) put_half(bytes.data() + block + offset, random.uniform(scale / 4, scale));
    }
    tame_scales(type, bytes.data() + block, random);
  }
  return bytes;
}

inline Floats values_of(Type type, const Bytes& bytes, std::int64_t count) {
  Floats values(static_cast<std::size_t>(count));
  inlay::gguf::dequantize(type, bytes.data(), values.data(), values.size());
  return values;
}

}  // namespace backends
