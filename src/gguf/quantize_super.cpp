// Quantizers of blocks of 256 values: a search finds each part's scale, then the scales themselves are quantized, and
// at last the codes are chosen again for the scales as they are stored.
#include <algorithm>
#include <array>

#include "base/half.hpp"
#include "gguf/bits.hpp"
#include "gguf/encode.hpp"
#include "gguf/fit.hpp"

namespace inlay::inline v0::gguf {
namespace {

using base::float_to_half;
using base::half_to_float;

// The parts' scales and minima as small integers times the block's two floats.
struct Parts {
  Half scale, minimum;
  std::array<int, 16> scales{}, minima{};

  // For part `j`, as they will be read.
  float scale_of(int j) const { return half_to_float(scale) * static_cast<float>(scales[j]); }
  float minimum_of(int j) const { return half_to_float(minimum) * static_cast<float>(minima[j]); }
};

Parts quantize_parts(const Fit* fits, int parts, int limit) {
  float greatest_scale = 0, greatest_minimum = 0;
  for (int j = 0; j < parts; ++j) {
    greatest_scale = std::max(greatest_scale, fits[j].scale);
    greatest_minimum = std::max(greatest_minimum, fits[j].minimum);
  }
  const float steps = static_cast<float>(limit);
  Parts result{float_to_half(greatest_scale / steps), float_to_half(greatest_minimum / steps)};
  for (int j = 0; j < parts; ++j) {
    result.scales[j] = round_to(steps * inverse(greatest_scale) * fits[j].scale, 0, limit);
    result.minima[j] = round_to(steps * inverse(greatest_minimum) * fits[j].minimum, 0, limit);
  }
  return result;
}

// Fits the parts of 256 values; the code of value `i` goes to `store(i, code)`.
template <class Weigh, class Store>
Parts encode_parts(const float* values, int part_values, int scale_limit, const Search& search, const Weigh& weigh,
                   const Store& store) {
  const int parts = 256 / part_values;
  std::array<Fit, 16> fits;
  std::array<float, 32> weights;
  for (int j = 0; j < parts; ++j) {
    weigh(values + j * part_values, weights.data());
    fits[j] = search_fit(values + j * part_values, weights.data(), part_values, search);
  }
  const Parts result = quantize_parts(fits.data(), parts, scale_limit);
  for (int i = 0; i < 256; ++i) {
    const int part = i / part_values;
    const float scale = result.scale_of(part);
    store(i, scale != 0 ? round_to((values[i] + result.minimum_of(part)) / scale, 0, search.limit) : 0);
  }
  return result;
}

void weigh_by_size(const float* values, float* weights) {
  for (int i = 0; i < 16; ++i) weights[i] = std::fabs(values[i]);
}

void weigh_by_size_and_mean(const float* values, float* weights) {
  float squares = 0;
  for (int i = 0; i < 32; ++i) squares += values[i] * values[i];
  for (int i = 0; i < 32; ++i) weights[i] = std::sqrt(squares / 32) + std::fabs(values[i]);
}

// ---- packing: the inverse of bits.hpp

void add_bits(std::uint8_t& byte, int shift, int bits) { byte = static_cast<std::uint8_t>(byte | bits << shift); }

void pack_four_bits(std::uint8_t* codes, int i, int code) {
  add_bits(codes[i / 64 * 32 + i % 32], 4 * (i % 64 / 32), code);
}
void pack_two_bits(std::uint8_t* codes, int i, int code) {
  add_bits(codes[i / 128 * 32 + i % 32], 2 * (i % 128 / 32), code);
}

template <class Block>  // Q4_K, Q5_K
void pack_parts(const Parts& parts, Block& block) {
  block.scale = parts.scale;
  block.minimum = parts.minimum;
  for (int j = 0; j < 8; ++j) {
    const int scale = parts.scales[j], minimum = parts.minima[j];
    if (j < 4) {
      add_bits(block.scales[j], 0, scale);
      add_bits(block.scales[j + 4], 0, minimum);
    } else {
      add_bits(block.scales[j + 4], 0, (scale & 15) | (minimum & 15) << 4);
      add_bits(block.scales[j - 4], 6, scale >> 4);
      add_bits(block.scales[j], 6, minimum >> 4);
    }
  }
}

// The parts' scales as integers from -limit to limit - 1 times the returned float; the farthest gets -limit.
Half quantize_scales(const std::array<float, 16>& scales, int limit, int parts, int* out) {
  const float peak = farthest(scales.data(), parts);
  if (std::fabs(peak) < 1e-15f) return 0;
  const float inverse_scale = static_cast<float>(-limit) / peak;
  for (int j = 0; j < parts; ++j) out[j] = round_to(inverse_scale * scales[j], -limit, limit - 1);
  return float_to_half(1 / inverse_scale);
}

}  // namespace

void encode(const float* values, BlockQ2_K& block) {
  constexpr Search search{3, -0.5f, 0.1f, 15, true};
  const Parts parts = encode_parts(values, 16, 15, search, weigh_by_size,
                                   [&](int i, int code) { pack_two_bits(block.codes, i, code); });
  block.scale = parts.scale;
  block.minimum = parts.minimum;
  for (int j = 0; j < 16; ++j) add_bits(block.scales[j], 0, parts.scales[j] | parts.minima[j] << 4);
}

void encode(const float* values, BlockQ3_K& block) {
  std::array<float, 16> found;
  std::array<int, 16> scales{};
  for (int j = 0; j < 16; ++j) found[j] = descend_to_scale(values + 16 * j, 4);
  block.scale = quantize_scales(found, 32, 16, scales.data());
  for (int j = 0; j < 16; ++j) {
    add_bits(block.scales[j % 8], 4 * (j / 8), (scales[j] + 32) & 15);
    add_bits(block.scales[8 + j % 4], 2 * (j / 4), (scales[j] + 32) >> 4);
  }
  for (int i = 0; i < 256; ++i) {
    const float scale = half_to_float(block.scale) * static_cast<float>(scales[i / 16]);
    const int code = round_to(values[i] * inverse(scale), -4, 3) + 4;
    pack_two_bits(block.codes, i, code & 3);
    add_bits(block.high[i % 32], i / 32, code >> 2);
  }
}

void encode(const float* values, BlockQ4_K& block) {
  constexpr Search search{15, -1, 0.1f, 20, false};
  pack_parts(encode_parts(values, 32, 63, search, weigh_by_size_and_mean,
                          [&](int i, int code) { pack_four_bits(block.codes, i, code); }),
             block);
}

void encode(const float* values, BlockQ5_K& block) {
  constexpr Search search{31, -0.5f, 0.1f, 15, false};
  const auto store = [&](int i, int code) {
    pack_four_bits(block.codes, i, code & 15);
    add_bits(block.high[i % 32], i / 32, code >> 4);
  };
  pack_parts(encode_parts(values, 32, 63, search, weigh_by_size_and_mean, store), block);
}

void encode(const float* values, BlockQ6_K& block) {
  std::array<float, 16> found;
  std::array<int, 16> scales{};
  for (int j = 0; j < 16; ++j) found[j] = search_scale(values + 16 * j, 32);
  block.scale = quantize_scales(found, 128, 16, scales.data());
  for (int i = 0; i < 256; ++i) {
    const int part_scale = scales[i / 16];
    block.scales[i / 16] = static_cast<std::int8_t>(part_scale);
    const float scale = half_to_float(block.scale) * static_cast<float>(part_scale);
    const int code = round_to(values[i] * inverse(scale), -32, 31) + 32;
    add_bits(block.codes[i / 128 * 64 + i % 64], 4 * (i % 128 / 64), code & 15);
    pack_two_bits(block.high, i, code >> 4);
  }
}

void encode(const float* values, BlockIQ4_XS& block) {
  std::array<float, 16> found{};
  std::array<int, 16> scales{};
  for (int j = 0; j < 8; ++j) found[j] = fit_nonlinear(values + 32 * j);
  block.scale = quantize_scales(found, 32, 8, scales.data());
  for (int j = 0; j < 8; ++j) {
    add_bits(block.scales_low[j / 2], 4 * (j % 2), (scales[j] + 32) & 15);
    block.scales_high = static_cast<std::uint16_t>(block.scales_high | (scales[j] + 32) >> 4 << (2 * j));
  }
  for (int i = 0; i < 256; ++i) {
    const float scale = half_to_float(block.scale) * static_cast<float>(scales[i / 32]);
    const int code = nearest_entry(nonlinear_values, values[i] * inverse(scale));
    add_bits(block.codes[i / 32 * 16 + i % 16], 4 * (i % 32 / 16), code);
  }
}

}  // namespace inlay::inline v0::gguf
