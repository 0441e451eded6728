// Half-precision numbers, binary16 and bfloat16, to and from float: plain and exact, ties to even.
#pragma once

#include <bit>
#include <cstdint>

namespace inlay::base {

constexpr float half_to_float(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000u) << 16;
  const std::uint32_t exponent = half >> 10 & 31u;
  const std::uint32_t mantissa = half & 0x3FFu;
  if (exponent == 0) {  // zero or subnormal: the multiplication is exact
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | mantissa << 13);
  return std::bit_cast<float>(sign | (exponent + 112) << 23 | mantissa << 13);
}

// The value without its lowest `shift` bits (1 to 24), rounded to nearest, ties to even.
constexpr std::uint32_t round_off(std::uint32_t value, unsigned shift) noexcept {
  return (value + (1u << (shift - 1)) - 1 + (value >> shift & 1u)) >> shift;
}

constexpr std::uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = bits >> 16 & 0x8000u;
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  std::uint32_t half = 0;
  if (magnitude > 0x7F800000u) {
    half = 0x7E00u | (magnitude >> 13 & 0x3FFu);  // NaN stays NaN, quiet
  } else if (magnitude >= 0x47800000u) {
    half = 0x7C00u;  // 65536 and above; what rounds up to it carries into infinity below
  } else if (magnitude >= 0x38800000u) {
    half = round_off(magnitude - (112u << 23), 13);
  } else if (const std::uint32_t shift = 126 - (magnitude >> 23); shift <= 24) {  // subnormal, units of 2^-24
    half = round_off((magnitude & 0x7FFFFFu) | 0x800000u, shift);
  }
  return static_cast<std::uint16_t>(sign | half);
}

constexpr float bfloat16_to_float(std::uint16_t half) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(half) << 16);
}

constexpr std::uint16_t float_to_bfloat16(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return static_cast<std::uint16_t>(bits >> 16 | 0x40u);  // quiet NaN
  return static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace inlay::base
