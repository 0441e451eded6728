// The types whose codes are points of a codebook, as one row of a packed form that names each value: IQ1, IQ2 and IQ3.
// Points themselves would have to be looked up from memory, eight values at a time, in every product.
#pragma once

#include "cpu/pack_codes.hpp"
#include "gguf/bits.hpp"
#include "gguf/iq_tables.hpp"

namespace inlay::cpu {

// Which value of a super-block each column holds: a number of its level, and its sign or shift in the bit above.
struct Levels {
  std::uint8_t of[super_blocks * block_columns];

  void put_point(int first, std::uint16_t point, int count, unsigned flags) noexcept {
    const int bits = count == 8 ? 2 : 3;
    for (int i = 0; i < count; ++i) {
      const unsigned level = point >> bits * i & ((1u << bits) - 1);
      of[first + i] = static_cast<std::uint8_t>(level | (flags >> i & 1) << bits);
    }
  }
  auto block(int j) const noexcept {
    return codes_by_quad([&](int q) { return word(of + block_columns * j + 4 * q); });
  }
};

inline void put_levels(const Levels& levels, PackedQ3_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_pairs(to.blocks[j].pairs, r, levels.block(j), 0);
    put_bits(to.blocks[j].bits, r, levels.block(j), 2);
  }
}
inline void put_levels(const Levels& levels, PackedIQ4_XS& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) put_nibbles(to.blocks[j].nibbles, r, levels.block(j));
}

constexpr std::int8_t odd(unsigned step) noexcept { return static_cast<std::int8_t>(2 * step + 1); }

inline std::int8_t& step_at(PackedQ3_K& to, int column, int r) noexcept {
  return to.blocks[column / 32].steps[column / 16 % 2][r];
}
inline std::int8_t& step_at(PackedIQ4_XS& to, int column, int r) noexcept { return to.blocks[column / 32].steps[r]; }

// So many columns that share a point, whose values differ by flags, and a step.
struct Part {
  std::uint16_t point;
  unsigned flags, step;
};

// A row from its parts of `count` columns each.
template <int count, class Packed, class PartAt>
bool pack_parts(Packed& to, int r, std::uint16_t scale, const PartAt& part_at) noexcept {
  Levels levels;
  for (int c = 0; c < super_blocks * block_columns / count; ++c) {
    const Part part = part_at(c);
    levels.put_point(count * c, part.point, count, part.flags);
    step_at(to, count * c, r) = odd(part.step);
  }
  put_levels(levels, to, r);
  to.scales[r] = scale;
  return is_finite(scale);
}

inline unsigned nibble_at(const std::uint8_t* bytes, int i) noexcept {
  return static_cast<unsigned>(gguf::nibble(bytes[i / 2], i % 2));
}

inline bool pack_block(const gguf::BlockIQ2_XXS& from, PackedQ3_K& to, int r) noexcept {
  return pack_parts<8>(to, r, from.scale, [&](int c) {
    const std::uint32_t signs = gguf::load_u32(from.parts[c / 4].signs);
    return Part{gguf::iq2_xxs_points[from.parts[c / 4].indices[c % 4]], gguf::even_signs(signs >> 7 * (c % 4) & 127),
                signs >> 28};
  });
}

inline bool pack_block(const gguf::BlockIQ2_XS& from, PackedQ3_K& to, int r) noexcept {
  return pack_parts<8>(to, r, from.scale, [&](int c) {
    return Part{gguf::iq2_xs_points[from.points[c] & 511], gguf::even_signs(from.points[c] >> 9),
                nibble_at(from.scales, c / 2)};
  });
}

inline bool pack_block(const gguf::BlockIQ2_S& from, PackedQ3_K& to, int r) noexcept {
  return pack_parts<8>(to, r, from.scale, [&](int c) {
    const int index = from.indices[c] | (from.high[c / 4] >> 2 * (c % 4) & 3) << 8;
    return Part{gguf::iq2_s_points[index], from.signs[c], nibble_at(from.scales, c / 2)};
  });
}

inline bool pack_block(const gguf::BlockIQ1_S& from, PackedQ3_K& to, int r) noexcept {
  return pack_parts<8>(to, r, from.scale, [&](int c) {
    const unsigned high = from.high[c / 4];
    return Part{gguf::iq1_points[from.indices[c] | (high >> 3 * (c % 4) & 7) << 8], high >> 15 ? 255u : 0u,
                high >> 12 & 7};
  });
}

inline bool pack_block(const gguf::BlockIQ1_M& from, PackedQ3_K& to, int r) noexcept {
  unsigned scale = 0;
  for (int i = 0; i < 4; ++i) scale |= (from.scales[i] >> 12u) << 4 * i;
  return pack_parts<8>(to, r, static_cast<std::uint16_t>(scale), [&](int c) {
    const unsigned high = nibble_at(from.high, c);
    return Part{gguf::iq1_points[from.indices[c] | (high & 7) << 8], high & 8 ? 255u : 0u,
                from.scales[c / 8] >> 3 * (c / 2 % 4) & 7u};
  });
}

inline bool pack_block(const gguf::BlockIQ3_XXS& from, PackedIQ4_XS& to, int r) noexcept {
  return pack_parts<4>(to, r, from.scale, [&](int c) {
    const std::uint32_t signs = gguf::load_u32(from.signs[c / 8]);
    return Part{gguf::iq3_xxs_points[from.indices[c]], gguf::even_signs(signs >> 7 * (c / 2 % 4) & 127) >> 4 * (c % 2),
                signs >> 28};
  });
}

inline bool pack_block(const gguf::BlockIQ3_S& from, PackedIQ4_XS& to, int r) noexcept {
  return pack_parts<4>(to, r, from.scale, [&](int c) {
    return Part{gguf::iq3_s_points[from.indices[c] | gguf::bit(from.high, c) << 8], nibble_at(from.signs, c),
                nibble_at(from.scales, c / 8)};
  });
}

}  // namespace inlay::cpu
