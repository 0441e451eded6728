// Turns the file's blocks into packed groups: 16 rows side by side, zeros where the matrix has fewer.
#include "cpu/pack.hpp"

#include <algorithm>
#include <cstring>

#include "base/half.hpp"
#include "cpu/packed.hpp"
#include "gguf/blocks.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

using gguf::Type;

// Whether a scale is a number: others would turn whole rows into NaN.
bool is_finite(std::uint16_t half) noexcept { return (half & 0x7C00) != 0x7C00; }

// The codes of one row of a block, four columns a word: quad q in word q.
struct Codes {
  std::uint32_t quads[block_quads];
};

std::uint32_t word(const std::uint8_t* bytes) noexcept {
  std::uint32_t value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// `mask` in every byte.
constexpr std::uint32_t each(std::uint32_t mask) noexcept { return mask * 0x01010101u; }

template <class Read>
Codes codes_by_quad(Read&& read) noexcept {
  Codes codes;
  for (int q = 0; q < block_quads; ++q) codes.quads[q] = read(q);
  return codes;
}

// ---- writing row r of a block
void put_word(Quad& quad, int r, std::uint32_t value) noexcept { std::memcpy(quad[r], &value, sizeof value); }

void put_nibbles(Quad (&nibbles)[4], int r, const Codes& codes) noexcept {
  for (int v = 0; v < 4; ++v) put_word(nibbles[v], r, (codes.quads[v] & each(15)) | (codes.quads[v + 4] & each(15)) << 4);
}
// Bits `from` and `from` + 1 of the codes.
void put_pairs(Quad (&pairs)[2], int r, const Codes& codes, int from) noexcept {
  for (int p = 0; p < 2; ++p) {
    std::uint32_t value = 0;
    for (int s = 0; s < 4; ++s) value |= (codes.quads[4 * p + s] >> from & each(3)) << 2 * s;
    put_word(pairs[p], r, value);
  }
}
void put_bits(Quad& bits, int r, const Codes& codes, int from) noexcept {
  std::uint32_t value = 0;
  for (int q = 0; q < block_quads; ++q) value |= (codes.quads[q] >> from & each(1)) << q;
  put_word(bits, r, value);
}

// ---- reading the file's blocks
// 16 bytes: columns 0-15 in the low nibbles, 16-31 in the high ones.
Codes four_bits(const std::uint8_t* bytes) noexcept {
  return codes_by_quad([=](int q) { return word(bytes + q % 4 * 4) >> q / 4 * 4 & each(15); });
}
// The same with a fifth bit: bit i of `high` for column i.
Codes five_bits(const std::uint8_t* bytes, const std::uint8_t* high) noexcept {
  const Codes low = four_bits(bytes);
  return codes_by_quad([&](int q) {
    const std::uint32_t bits = word(high) >> 4 * q & 15;
    return low.quads[q] | (bits * 0x00204081u & each(1)) << 4;
  });
}
// Block j of 256 values: 32 bytes hold the same column of several blocks.
std::uint32_t planes(const std::uint8_t* bytes, int j, int bits, int q) noexcept {
  const int blocks = 8 / bits;
  return word(bytes + j / blocks * 32 + 4 * q) >> j % blocks * bits & each((1u << bits) - 1);
}

// A file's block as row r of one element of the stream; false where a scale is no number.
template <class Block>
bool pack_block(const Block& from, PackedQ4_0& to, int r) noexcept {  // Q4_0 and IQ4_NL
  put_nibbles(to.nibbles, r, four_bits(from.codes));
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockQ4_1& from, PackedQ4_1& to, int r) noexcept {
  put_nibbles(to.nibbles, r, four_bits(from.codes));
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum;
  return is_finite(from.scale) && is_finite(from.minimum);
}

bool pack_block(const gguf::BlockQ5_0& from, PackedQ5_0& to, int r) noexcept {
  const Codes codes = five_bits(from.codes, from.high);
  put_nibbles(to.nibbles, r, codes);
  put_bits(to.bits, r, codes, 4);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockQ5_1& from, PackedQ5_1& to, int r) noexcept {
  const Codes codes = five_bits(from.codes, from.high);
  put_nibbles(to.nibbles, r, codes);
  put_bits(to.bits, r, codes, 4);
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum;
  return is_finite(from.scale) && is_finite(from.minimum);
}

bool pack_block(const gguf::BlockQ8_0& from, PackedQ8_0& to, int r) noexcept {
  for (int q = 0; q < block_quads; ++q) std::memcpy(to.codes[q][r], from.codes + 4 * q, 4);
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockQ2_K& from, PackedQ2_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_pairs(to.blocks[j].pairs, r, codes_by_quad([&](int q) { return planes(from.codes, j, 2, q); }), 0);
    for (int part = 0; part < 2; ++part) to.blocks[j].steps[part][r] = from.scales[2 * j + part];
  }
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum ^ 0x8000;  // it is subtracted
  return is_finite(from.scale) && is_finite(from.minimum);
}

bool pack_block(const gguf::BlockQ3_K& from, PackedQ3_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    const Codes codes = codes_by_quad([&](int q) {
      return planes(from.codes, j, 2, q) | planes(from.high, j, 1, q) << 2;
    });
    put_pairs(to.blocks[j].pairs, r, codes, 0);
    put_bits(to.blocks[j].bits, r, codes, 2);
  }
  for (int j = 0; j < 16; ++j) {
    const int low = j < 8 ? from.scales[j] & 15 : from.scales[j - 8] >> 4;
    const int high = from.scales[8 + j % 4] >> j / 4 * 2 & 3;
    to.blocks[j / 2].steps[j % 2][r] = static_cast<std::int8_t>(low + 16 * high - 32);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

// The six-bit scales and minima of Q4_K and Q5_K.
template <class Packed>
void put_steps(const std::uint8_t (&s)[12], Packed& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    const int step = j < 4 ? s[j] & 63 : (s[j + 4] & 15) + 16 * (s[j - 4] >> 6);
    const int least = j < 4 ? s[j + 4] & 63 : (s[j + 4] >> 4) + 16 * (s[j] >> 6);
    to.blocks[j].steps[r] = static_cast<std::uint8_t>(step);
    to.blocks[j].minimum_steps[r] = static_cast<std::uint8_t>(least);
  }
}

bool pack_block(const gguf::BlockQ4_K& from, PackedQ4_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_nibbles(to.blocks[j].nibbles, r, codes_by_quad([&](int q) { return planes(from.codes, j, 4, q); }));
  }
  put_steps(from.scales, to, r);
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum ^ 0x8000;
  return is_finite(from.scale) && is_finite(from.minimum);
}

bool pack_block(const gguf::BlockQ5_K& from, PackedQ5_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_nibbles(to.blocks[j].nibbles, r, codes_by_quad([&](int q) { return planes(from.codes, j, 4, q); }));
    put_bits(to.blocks[j].bits, r, codes_by_quad([&](int q) { return planes(from.high, j, 1, q); }), 0);
  }
  put_steps(from.scales, to, r);
  to.scales[r] = from.scale;
  to.minima[r] = from.minimum ^ 0x8000;
  return is_finite(from.scale) && is_finite(from.minimum);
}

bool pack_block(const gguf::BlockQ6_K& from, PackedQ6_K& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    // 64 bytes hold four blocks: two in the low nibbles, then two in the high ones
    const std::uint8_t* low = from.codes + j / 4 * 64 + j % 2 * 32;
    put_nibbles(to.blocks[j].nibbles, r, codes_by_quad([=](int q) { return word(low + 4 * q) >> j / 2 % 2 * 4; }));
    put_pairs(to.blocks[j].pairs, r, codes_by_quad([&](int q) { return planes(from.high, j, 2, q); }), 0);
    for (int part = 0; part < 2; ++part) to.blocks[j].steps[part][r] = from.scales[2 * j + part];
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockIQ4_XS& from, PackedIQ4_XS& to, int r) noexcept {
  for (int j = 0; j < super_blocks; ++j) {
    put_nibbles(to.blocks[j].nibbles, r, four_bits(from.codes + 16 * j));
    const int low = from.scales_low[j / 2] >> j % 2 * 4 & 15, high = from.scales_high >> 2 * j & 3;
    to.blocks[j].steps[r] = static_cast<std::int8_t>(low + 16 * high - 32);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockMXFP4& from, PackedMXFP4& to, int r) noexcept {
  put_nibbles(to.nibbles, r, four_bits(from.codes));
  // 2^(exponent - 128), for the codes are doubled; the two smallest are denormal.
  to.scales[r] = static_cast<std::uint16_t>(from.exponent > 1 ? (from.exponent - 1) << 7 : 0x20 << from.exponent);
  return from.exponent != 255;
}

bool pack_block(const gguf::BlockTQ2_0& from, PackedTernary<8>& to, int r) noexcept {
  for (int j = 0; j < 8; ++j) {
    put_pairs(to.pairs[j], r, codes_by_quad([&](int q) { return planes(from.codes, j, 2, q); }), 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

// Value i of 256 in base 3: the digit n of a byte is the carry of byte * 3^n * 3.
unsigned trit(const gguf::BlockTQ1_0& from, int i) noexcept {
  constexpr unsigned powers[] = {1, 3, 9, 27, 81};
  const auto digit = [&](std::uint8_t byte, int n) { return (byte * powers[n] & 255) * 3 >> 8; };
  if (i < 160) return digit(from.codes[i % 32], i / 32);
  if (i < 240) return digit(from.codes[32 + (i - 160) % 16], (i - 160) / 16);
  return digit(from.tail[(i - 240) % 4], (i - 240) / 4);
}

bool pack_block(const gguf::BlockTQ1_0& from, PackedTernary<8>& to, int r) noexcept {
  for (int j = 0; j < 8; ++j) {
    const Codes codes = codes_by_quad([&](int q) {
      std::uint32_t quad = 0;
      for (int c = 0; c < 4; ++c) quad |= trit(from, 32 * j + 4 * q + c) << 8 * c;
      return quad;
    });
    put_pairs(to.pairs[j], r, codes, 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockQ2_0& from, PackedTernary<2>& to, int r) noexcept {
  for (int j = 0; j < 2; ++j) {
    const Codes codes = codes_by_quad([&](int q) {  // a byte is a quad
      const std::uint32_t byte = from.codes[8 * j + q];
      return (byte | byte << 6 | byte << 12 | byte << 18) & each(3);
    });
    put_pairs(to.pairs[j], r, codes, 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const gguf::BlockQ1_0& from, PackedTernary<4>& to, int r) noexcept {
  for (int j = 0; j < 4; ++j) {
    const Codes codes = codes_by_quad([&](int q) {  // a set bit is 2, a clear one 0
      const std::uint32_t bits = from.bits[4 * j + q / 2] >> q % 2 * 4 & 15;
      return (bits * 0x00204081u & each(1)) << 1;
    });
    put_pairs(to.pairs[j], r, codes, 0);
  }
  to.scales[r] = from.scale;
  return is_finite(from.scale);
}

bool pack_block(const float& from, PackedF32& to, int r) noexcept { return to.values[r] = from, true; }
bool pack_block(const gguf::Half& from, PackedHalf& to, int r) noexcept { return to.values[r] = from, true; }

// ---- whole groups
template <class Block, class Packed>
bool pack_group(const std::byte* rows, std::int64_t row_bytes, int count, std::int64_t blocks, std::byte* group) noexcept {
  auto* stream = reinterpret_cast<Packed*>(group);
  if (count < packed_rows) std::memset(group, 0, blocks * sizeof(Packed));
  bool finite = true;
  for (int r = 0; r < count; ++r) {
    const std::byte* row = rows + r * row_bytes;
    for (std::int64_t b = 0; b < blocks; ++b) {
      Block block;
      std::memcpy(&block, row + b * sizeof(Block), sizeof(Block));
      finite &= pack_block(block, stream[b], r);
    }
  }
  return finite;
}

struct Layout {
  Type type;
  std::size_t packed_bytes;  // of one of the file's blocks of all 16 rows
  bool (*pack_group)(const std::byte* rows, std::int64_t row_bytes, int count, std::int64_t blocks, std::byte* group) noexcept;
};

template <class Block, class Packed>
constexpr Layout layout(Type type) noexcept {
  return {type, sizeof(Packed), pack_group<Block, Packed>};
}

constexpr Layout layouts[] = {
    layout<gguf::BlockQ4_0, PackedQ4_0>(Type::Q4_0),     layout<gguf::BlockQ4_1, PackedQ4_1>(Type::Q4_1),
    layout<gguf::BlockQ5_0, PackedQ5_0>(Type::Q5_0),     layout<gguf::BlockQ5_1, PackedQ5_1>(Type::Q5_1),
    layout<gguf::BlockQ8_0, PackedQ8_0>(Type::Q8_0),     layout<gguf::BlockQ2_K, PackedQ2_K>(Type::Q2_K),
    layout<gguf::BlockQ3_K, PackedQ3_K>(Type::Q3_K),     layout<gguf::BlockQ4_K, PackedQ4_K>(Type::Q4_K),
    layout<gguf::BlockQ5_K, PackedQ5_K>(Type::Q5_K),     layout<gguf::BlockQ6_K, PackedQ6_K>(Type::Q6_K),
    layout<gguf::BlockIQ4_NL, PackedQ4_0>(Type::IQ4_NL), layout<gguf::BlockIQ4_XS, PackedIQ4_XS>(Type::IQ4_XS),
    layout<gguf::BlockMXFP4, PackedMXFP4>(Type::MXFP4),  layout<gguf::BlockTQ2_0, PackedTernary<8>>(Type::TQ2_0),
    layout<gguf::BlockTQ1_0, PackedTernary<8>>(Type::TQ1_0), layout<gguf::BlockQ2_0, PackedTernary<2>>(Type::Q2_0),
    layout<gguf::BlockQ1_0, PackedTernary<4>>(Type::Q1_0),
    layout<float, PackedF32>(Type::F32),                 layout<gguf::Half, PackedHalf>(Type::F16),
    layout<gguf::Half, PackedHalf>(Type::BF16),
};

const Layout* find_layout(std::uint32_t type) noexcept {
  for (const Layout& row : layouts) {
    if (static_cast<std::uint32_t>(row.type) == type) return &row;
  }
  return nullptr;
}

}  // namespace

std::size_t pack(const inlay_tensor& source, std::uint32_t role, std::int64_t first_row, std::int64_t rows,
                 inlay_tensor& packed) noexcept {
  if (role == INLAY_ROLE_TABLE) return 0;
  const Layout* layout = find_layout(source.type);
  const gguf::TypeInfo* info = gguf::find_type(source.type);
  if (!layout || source.rank < 2 || source.rank > 3) return SIZE_MAX;
  const std::int64_t columns = source.shape[source.rank - 1], matrix_rows = source.shape[source.rank - 2];
  if (columns % info->block_values != 0) return SIZE_MAX;
  const std::int64_t blocks = columns / info->block_values;
  const std::size_t group_bytes = blocks * layout->packed_bytes;
  const std::int64_t groups = (matrix_rows + packed_rows - 1) / packed_rows;
  if (!packed.data) {
    packed = source;
    packed.data = nullptr;
    packed.type = INLAY_PRIVATE + source.type;
    packed.stride[source.rank - 2] = static_cast<std::int64_t>(group_bytes / packed_rows);
    if (source.rank == 3) packed.stride[0] = static_cast<std::int64_t>(groups * group_bytes);
    return (source.rank == 3 ? source.shape[0] : 1) * groups * group_bytes;
  }
  const std::int64_t row_stride = source.stride[source.rank - 2];
  for (std::int64_t row = first_row, end = first_row + rows; row < end;) {
    const std::int64_t matrix = row / matrix_rows, within = row % matrix_rows;
    const auto count = std::min<std::int64_t>({packed_rows, matrix_rows - within, end - row});
    const auto* from = static_cast<const std::byte*>(source.data) + within * row_stride;
    if (source.rank == 3) from += matrix * source.stride[0];
    auto* to = static_cast<std::byte*>(packed.data) + (matrix * groups + within / packed_rows) * group_bytes;
    if (!layout->pack_group(from, row_stride, static_cast<int>(count), blocks, to)) return SIZE_MAX;
    row += count;
  }
  return groups * group_bytes;
}

}  // namespace inlay::cpu
