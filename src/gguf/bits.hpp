// Small numbers out of packed bytes.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace inlay::inline v0::gguf {

constexpr int nibble(std::uint8_t byte, int i) noexcept { return byte >> (4 * i) & 15; }
constexpr int bit(const std::uint8_t* bytes, int i) noexcept { return bytes[i / 8] >> (i % 8) & 1; }

// Code `i` of 256: four bits, in runs of 64 whose first 32 are the low nibbles.
constexpr int four_bits(const std::uint8_t* codes, int i) noexcept {
  return nibble(codes[i / 64 * 32 + i % 32], i % 64 / 32);
}

// Code `i` of 256: two bits, in runs of 128 whose first 32 are the lowest bits.
constexpr int two_bits(const std::uint8_t* codes, int i) noexcept {
  return codes[i / 128 * 32 + i % 32] >> (2 * (i % 128 / 32)) & 3;
}

// A bit of value `i` of 256 in 32 bytes, one bit of each byte for each run of 32.
constexpr int plane_bit(const std::uint8_t* plane, int i) noexcept { return plane[i % 32] >> (i / 32) & 1; }

// Six-bit scale and minimum of part `j` of 8, packed into 12 bytes (Q4_K, Q5_K).
constexpr int packed_scale(const std::uint8_t* scales, int j) noexcept {
  return j < 4 ? scales[j] & 63 : (scales[j + 4] & 15) | (scales[j - 4] >> 6) << 4;
}
constexpr int packed_minimum(const std::uint8_t* scales, int j) noexcept {
  return j < 4 ? scales[j + 4] & 63 : scales[j + 4] >> 4 | (scales[j] >> 6) << 4;
}

// Six-bit scale of part `j` of 16, packed into 12 bytes (Q3_K).
constexpr int packed_scale_16(const std::uint8_t* scales, int j) noexcept {
  return nibble(scales[j % 8], j / 8) | (scales[8 + j % 4] >> (2 * (j / 4)) & 3) << 4;
}

inline std::uint32_t load_u32(const std::uint8_t* bytes) noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof(value));
  return value;
}

// Seven sign bits and an eighth that makes the number of minus signs even.
constexpr unsigned even_signs(unsigned seven) noexcept {
  const unsigned parities = 0x6996;  // of the numbers 0 to 15
  return seven | (parities >> ((seven ^ seven >> 4) & 15) & 1) << 7;
}

// 2^(exponent - 128): half of what the exponent byte of MXFP4 stands for, as its codes stand for doubled values.
constexpr float halved_power(std::uint8_t exponent) noexcept {
  const auto bits = exponent < 2 ? 0x200000u << exponent : (exponent - 1u) << 23;
  return std::bit_cast<float>(bits);
}

// Half of what an unsigned float of 4 exponent and 3 mantissa bits stands for (the scales of NVFP4).
constexpr float halved_fp8(std::uint8_t bits) noexcept {
  const int exponent = bits >> 3 & 15, mantissa = bits & 7;
  if ((bits & 127) == 127) return 0;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10f;
  return static_cast<float>(8 + mantissa) * std::bit_cast<float>(static_cast<std::uint32_t>(exponent + 116) << 23);
}

}  // namespace inlay::inline v0::gguf
