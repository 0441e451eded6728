// Decodes the blocks whose codes are indices into a codebook: IQ1, IQ2 and IQ3.
#pragma once

#include "base/half.hpp"
#include "gguf/bits.hpp"
#include "gguf/blocks.hpp"
#include "gguf/iq_tables.hpp"

namespace inlay::inline v0::gguf {

// Writes `count` values of one point, each with its sign.
template <class Levels>
inline void decode_point(float scale, std::uint16_t point, const Levels& levels, unsigned signs, int count,
                         float* out) {
  for (int i = 0; i < count; ++i) {
    const float magnitude = scale * static_cast<float>(point_value(point, i, levels));
    out[i] = signs >> i & 1 ? -magnitude : magnitude;
  }
}

inline void decode(const BlockIQ2_XXS& block, float* out) {
  for (int c = 0; c < 32; ++c) {  // groups of 8 values
    const std::uint32_t word = load_u32(block.parts[c / 4].signs);
    const float scale = base::half_to_float(block.scale) * (0.5f + static_cast<float>(word >> 28)) * 0.25f;
    const std::uint16_t point = iq2_xxs_points[block.parts[c / 4].indices[c % 4]];
    decode_point(scale, point, iq2_levels, even_signs(word >> (7 * (c % 4)) & 127), 8, out + 8 * c);
  }
}

inline void decode(const BlockIQ2_XS& block, float* out) {
  for (int c = 0; c < 32; ++c) {
    const int four_bits = nibble(block.scales[c / 4], c % 4 / 2);
    const float scale = base::half_to_float(block.scale) * (0.5f + static_cast<float>(four_bits)) * 0.25f;
    const std::uint16_t point = iq2_xs_points[block.points[c] & 511];
    decode_point(scale, point, iq2_levels, even_signs(block.points[c] >> 9), 8, out + 8 * c);
  }
}

inline void decode(const BlockIQ2_S& block, float* out) {
  for (int c = 0; c < 32; ++c) {
    const int four_bits = nibble(block.scales[c / 4], c % 4 / 2);
    const float scale = base::half_to_float(block.scale) * (0.5f + static_cast<float>(four_bits)) * 0.25f;
    const int index = block.indices[c] | (block.high[c / 4] >> (2 * (c % 4)) & 3) << 8;
    decode_point(scale, iq2_s_points[index], iq2_levels, block.signs[c], 8, out + 8 * c);
  }
}

inline void decode(const BlockIQ3_XXS& block, float* out) {
  for (int e = 0; e < 64; ++e) {  // groups of 4 values
    const std::uint32_t word = load_u32(block.signs[e / 8]);
    const float scale = base::half_to_float(block.scale) * (0.5f + static_cast<float>(word >> 28)) * 0.5f;
    const unsigned signs = even_signs(word >> (7 * (e % 8 / 2)) & 127) >> (4 * (e % 2));
    decode_point(scale, iq3_xxs_points[block.indices[e]], iq3_xxs_levels, signs, 4, out + 4 * e);
  }
}

inline void decode(const BlockIQ3_S& block, float* out) {
  for (int e = 0; e < 64; ++e) {
    const float scale =
        base::half_to_float(block.scale) * static_cast<float>(1 + 2 * nibble(block.scales[e / 16], e / 8 % 2));
    const int index = block.indices[e] | bit(block.high, e) << 8;
    decode_point(scale, iq3_s_points[index], iq3_s_levels, nibble(block.signs[e / 2], e % 2), 4, out + 4 * e);
  }
}

// A point of IQ1, all of it shifted by an eighth up or down.
inline void decode_shifted(float scale, int index, bool down, float* out) {
  for (int i = 0; i < 8; ++i) {
    out[i] = scale * (static_cast<float>(point_value(iq1_points[index], i, iq1_levels)) + (down ? -0.125f : 0.125f));
  }
}

inline void decode(const BlockIQ1_S& block, float* out) {
  for (int c = 0; c < 32; ++c) {
    const unsigned high = block.high[c / 4];
    const float scale = base::half_to_float(block.scale) * static_cast<float>(2 * (high >> 12 & 7) + 1);
    const int index = block.indices[c] | static_cast<int>(high >> (3 * (c % 4)) & 7) << 8;
    decode_shifted(scale, index, high >> 15 & 1, out + 8 * c);
  }
}

inline void decode(const BlockIQ1_M& block, float* out) {
  unsigned scale_bits = 0;
  for (int i = 0; i < 4; ++i) scale_bits |= static_cast<unsigned>(block.scales[i] >> 12) << (4 * i);
  for (int c = 0; c < 32; ++c) {
    const int three_bits = block.scales[c / 8] >> (3 * (c / 2 % 4)) & 7;
    const float scale = base::half_to_float(static_cast<Half>(scale_bits)) * static_cast<float>(2 * three_bits + 1);
    const int high = nibble(block.high[c / 2], c % 2);
    decode_shifted(scale, block.indices[c] | (high & 7) << 8, high & 8, out + 8 * c);
  }
}

}  // namespace inlay::inline v0::gguf
