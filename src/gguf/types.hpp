// The tensor types of GGUF files: their numbers, names and the size of their blocks.
#pragma once

#include <cstdint>
#include <string_view>

namespace inlay::inline v0::gguf {

// A tensor's type; the numbers are the file format's, the gaps are types that were removed from it.
// clang-format off
enum class Type : std::uint32_t {
  F32 = 0, F16 = 1, Q4_0 = 2, Q4_1 = 3, Q5_0 = 6, Q5_1 = 7, Q8_0 = 8, Q8_1 = 9,
  Q2_K = 10, Q3_K = 11, Q4_K = 12, Q5_K = 13, Q6_K = 14, Q8_K = 15,
  IQ2_XXS = 16, IQ2_XS = 17, IQ3_XXS = 18, IQ1_S = 19, IQ4_NL = 20, IQ3_S = 21, IQ2_S = 22, IQ4_XS = 23,
  I8 = 24, I16 = 25, I32 = 26, I64 = 27, F64 = 28, IQ1_M = 29, BF16 = 30,
  TQ1_0 = 34, TQ2_0 = 35, I2_S = 36, MXFP4 = 39, NVFP4 = 40, Q1_0 = 41, Q2_0 = 42
};
// clang-format on

struct TypeInfo {
  Type type;
  std::string_view name;
  std::uint32_t block_values;  // a row is a whole number of blocks, each of so many values
  std::uint32_t block_bytes;
  std::uint32_t tail_bytes = 0;  // of a whole tensor, behind its blocks
};

inline constexpr TypeInfo type_table[] = {
    {Type::F32, "F32", 1, 4},
    {Type::F16, "F16", 1, 2},
    {Type::Q4_0, "Q4_0", 32, 18},
    {Type::Q4_1, "Q4_1", 32, 20},
    {Type::Q5_0, "Q5_0", 32, 22},
    {Type::Q5_1, "Q5_1", 32, 24},
    {Type::Q8_0, "Q8_0", 32, 34},
    {Type::Q8_1, "Q8_1", 32, 36},
    {Type::Q2_K, "Q2_K", 256, 84},
    {Type::Q3_K, "Q3_K", 256, 110},
    {Type::Q4_K, "Q4_K", 256, 144},
    {Type::Q5_K, "Q5_K", 256, 176},
    {Type::Q6_K, "Q6_K", 256, 210},
    {Type::Q8_K, "Q8_K", 256, 292},
    {Type::IQ2_XXS, "IQ2_XXS", 256, 66},
    {Type::IQ2_XS, "IQ2_XS", 256, 74},
    {Type::IQ3_XXS, "IQ3_XXS", 256, 98},
    {Type::IQ1_S, "IQ1_S", 256, 50},
    {Type::IQ4_NL, "IQ4_NL", 32, 18},
    {Type::IQ3_S, "IQ3_S", 256, 110},
    {Type::IQ2_S, "IQ2_S", 256, 82},
    {Type::IQ4_XS, "IQ4_XS", 256, 136},
    {Type::I8, "I8", 1, 1},
    {Type::I16, "I16", 1, 2},
    {Type::I32, "I32", 1, 4},
    {Type::I64, "I64", 1, 8},
    {Type::F64, "F64", 1, 8},
    {Type::IQ1_M, "IQ1_M", 256, 56},
    {Type::BF16, "BF16", 1, 2},
    {Type::TQ1_0, "TQ1_0", 256, 54},
    {Type::TQ2_0, "TQ2_0", 256, 66},
    {Type::I2_S, "I2_S", 128, 32, 32},
    {Type::MXFP4, "MXFP4", 32, 17},
    {Type::NVFP4, "NVFP4", 64, 36},
    {Type::Q1_0, "Q1_0", 128, 18},
    {Type::Q2_0, "Q2_0", 64, 18},
};

// The row of the table; null for a number that is no type.
constexpr const TypeInfo* find_type(std::uint32_t id) noexcept {
  for (const TypeInfo& info : type_table) {
    if (static_cast<std::uint32_t>(info.type) == id) return &info;
  }
  return nullptr;
}

constexpr const TypeInfo* find_type(std::string_view name) noexcept {
  for (const TypeInfo& info : type_table) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

constexpr const TypeInfo& type_info(Type type) noexcept { return *find_type(static_cast<std::uint32_t>(type)); }

// Bytes of `values` values, a whole number of blocks, without a tensor's tail.
constexpr std::uint64_t bytes_of(Type type, std::uint64_t values) noexcept {
  return values / type_info(type).block_values * type_info(type).block_bytes;
}

}  // namespace inlay::inline v0::gguf
