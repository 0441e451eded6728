// The types whose codes are points of a codebook, as one row of a packed form that names each value: IQ1, IQ2 and IQ3.
// Points themselves would have to be looked up from memory, eight values at a time, in every product.
#pragma once

#include "cpu/pack_codes.hpp"
#include "gguf/bits.hpp"
#include "gguf/iq_tables.hpp"

namespace inlay::cpu {

constexpr std::int8_t odd(unsigned step) noexcept { return static_cast<std::int8_t>(2 * step + 1); }

// Columns that share a point, whose values differ by flags, and a step.
struct Part {
  std::uint32_t point, flags;
  unsigned step;
};

// A row from its parts of eight columns, of which a point tells two bits each.
template <class PartAt>
void pack_parts(PackedQ3_K& to, int r, std::uint16_t scale, const PartAt& part_at) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    std::uint32_t flags = 0;
    for (int half = 0; half < 2; ++half) {
      const Part low = part_at(4 * j + 2 * half), high = part_at(4 * j + 2 * half + 1);
      put_word(to.blocks[j].pairs[half], r, pairs_by_quad(low.point | high.point << 16));
      flags |= (low.flags | high.flags << 8) << 16 * half;
      to.blocks[j].steps[half][r] = odd(low.step);
    }
    put_word(to.blocks[j].bits, r, bits_by_quad(flags));
  }
  to.scales[r] = scale;
}

// Three bits and a flag for each of four columns, a byte each.
inline std::uint32_t quad_of(const Part& part) noexcept {
  const std::uint32_t twos = (part.point | part.point << 10) & 0x003F003Fu;
  return ((twos | twos << 5) & each(7)) | ((part.flags & 15) * 0x00204081u & each(1)) << 3;
}
// A row from its parts of four columns.
template <class PartAt>
void pack_parts(PackedIQ4_XS& to, int r, std::uint16_t scale, const PartAt& part_at) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    for (int v = 0; v < 4; ++v) {
      put_word(to.blocks[j].nibbles[v], r, quad_of(part_at(8 * j + v)) | quad_of(part_at(8 * j + v + 4)) << 4);
    }
    to.blocks[j].steps[r] = odd(part_at(8 * j).step);
  }
  to.scales[r] = scale;
}

inline unsigned nibble_at(const std::uint8_t* bytes, int i) noexcept {
  return static_cast<unsigned>(gguf::nibble(bytes[i / 2], i % 2));
}

inline void pack_block(const gguf::BlockIQ2_XXS& from, PackedQ3_K& to, int r, OneRow) noexcept {
  pack_parts(to, r, from.scale, [&](int c) {
    const std::uint32_t signs = gguf::load_u32(from.parts[c / 4].signs);
    return Part{gguf::iq2_xxs_points[from.parts[c / 4].indices[c % 4]], gguf::even_signs(signs >> 7 * (c % 4) & 127),
                signs >> 28};
  });
}

inline void pack_block(const gguf::BlockIQ2_XS& from, PackedQ3_K& to, int r, OneRow) noexcept {
  pack_parts(to, r, from.scale, [&](int c) {
    return Part{gguf::iq2_xs_points[from.points[c] & 511], gguf::even_signs(from.points[c] >> 9),
                nibble_at(from.scales, c / 2)};
  });
}

inline void pack_block(const gguf::BlockIQ2_S& from, PackedQ3_K& to, int r, OneRow) noexcept {
  pack_parts(to, r, from.scale, [&](int c) {
    const int index = from.indices[c] | (from.high[c / 4] >> 2 * (c % 4) & 3) << 8;
    return Part{gguf::iq2_s_points[index], from.signs[c], nibble_at(from.scales, c / 2)};
  });
}

inline void pack_block(const gguf::BlockIQ1_S& from, PackedQ3_K& to, int r, OneRow) noexcept {
  pack_parts(to, r, from.scale, [&](int c) {
    const unsigned high = from.high[c / 4];
    return Part{gguf::iq1_points[from.indices[c] | (high >> 3 * (c % 4) & 7) << 8], high >> 15 ? 255u : 0u,
                high >> 12 & 7};
  });
}

inline void pack_block(const gguf::BlockIQ1_M& from, PackedQ3_K& to, int r, OneRow) noexcept {
  unsigned scale = 0;
  for (int i = 0; i < 4; ++i) scale |= (from.scales[i] >> 12u) << 4 * i;
  pack_parts(to, r, static_cast<std::uint16_t>(scale), [&](int c) {
    const unsigned high = nibble_at(from.high, c);
    return Part{gguf::iq1_points[from.indices[c] | (high & 7) << 8], high & 8 ? 255u : 0u,
                from.scales[c / 8] >> 3 * (c / 2 % 4) & 7u};
  });
}

inline void pack_block(const gguf::BlockIQ3_XXS& from, PackedIQ4_XS& to, int r, OneRow) noexcept {
  pack_parts(to, r, from.scale, [&](int c) {
    const std::uint32_t signs = gguf::load_u32(from.signs[c / 8]);
    return Part{gguf::iq3_xxs_points[from.indices[c]], gguf::even_signs(signs >> 7 * (c / 2 % 4) & 127) >> 4 * (c % 2),
                signs >> 28};
  });
}

inline void pack_block(const gguf::BlockIQ3_S& from, PackedIQ4_XS& to, int r, OneRow) noexcept {
  pack_parts(to, r, from.scale, [&](int c) {
    return Part{gguf::iq3_s_points[from.indices[c] | gguf::bit(from.high, c) << 8], nibble_at(from.signs, c),
                nibble_at(from.scales, c / 8)};
  });
}

}  // namespace inlay::cpu
