// Turns the file's blocks into packed groups: 16 rows side by side, zeros where the matrix has fewer.
#include "cpu/pack.hpp"

#include <algorithm>

#include "cpu/pack_blocks.hpp"
#include "cpu/pack_codebook.hpp"
#include "cpu/pack_super_blocks.hpp"
#include "cpu/simd/transpose.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

using gguf::Type;

template <class Block>
bool is_aligned(const std::byte* bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(bytes) % alignof(Block) == 0;
}

// The block where it lies, or its copy where that is no place for its type. (Always to copy costs more than packing:
// words of the copy lie across the stores that wrote it.)
template <class Block>
const Block& block_at(const std::byte* bytes, Block& copy) noexcept {
  if (is_aligned<Block>(bytes)) return *reinterpret_cast<const Block*>(bytes);
  std::memcpy(&copy, bytes, sizeof(Block));
  return copy;
}

// Into the second cache.
template <std::size_t bytes>
void fetch(const std::byte* from) noexcept {
  for (std::size_t i = 0; i < bytes; i += 64) __builtin_prefetch(from + i, 0, 2);
}

// Types of which four rows are packed at once.
template <class Block, class Packed>
concept InFours = requires(const Block& from, Packed& to) {
  pack_block(from, to, 0, FourRows{0});
};

// Numbers of all 16 rows, a square of rows and columns at a time. What is left over is for pack_group.
std::int64_t move_numbers(const std::byte* rows, std::int64_t row_bytes, std::int64_t columns, const std::byte* next,
                          PackedF32* to) noexcept {
  std::int64_t column = 0;
  for (; column + 4 <= columns; column += 4) {
    fetch<4 * sizeof *to>(next + column * sizeof *to);
    INLAY_UNROLL for (int r = 0; r < packed_rows; r += 4) {
      const auto four = FourRows{row_bytes}.words<4>(rows + r * row_bytes + column * 4);
      INLAY_UNROLL for (int i = 0; i < 4; ++i) store_vector(to[column + i].values + r, four.at[i]);
    }
  }
  return column;
}
std::int64_t move_numbers(const std::byte* rows, std::int64_t row_bytes, std::int64_t columns, const std::byte* next,
                          PackedHalf* to) noexcept {
  std::int64_t column = 0;
  for (; column + 8 <= columns; column += 8) {
    fetch<8 * sizeof *to>(next + column * sizeof *to);
    INLAY_UNROLL for (int r = 0; r < packed_rows; r += 8) {
      ShortWords square[8];
      INLAY_UNROLL for (int i = 0; i < 8; ++i) square[i] =
          load_vector<ShortWords>(rows + (r + i) * row_bytes + column * 2);
      transpose(square, [&](int i) { return to[column + i].values + r; });
    }
  }
  return column;
}

// ---- whole groups
template <class Block, class Packed>
void pack_group(const std::byte* rows, std::int64_t row_bytes, int count, std::int64_t blocks, const std::byte* next,
                std::byte* group) noexcept {
  auto* stream = reinterpret_cast<Packed*>(group);
  if (count < packed_rows) std::memset(group, 0, blocks * sizeof(Packed));
  std::int64_t b = 0;
  if constexpr (InFours<Block, Packed>) {
    const bool whole = count == packed_rows && row_bytes % alignof(Block) == 0 && is_aligned<Block>(rows);
    const FourRows read = {row_bytes};
    for (; whole && b < blocks; ++b) {
      fetch<packed_rows * sizeof(Block)>(next + b * packed_rows * sizeof(Block));
      for (int r = 0; r < packed_rows; r += 4) {
        const std::byte* first = rows + r * row_bytes + b * sizeof(Block);
        pack_block(*reinterpret_cast<const Block*>(first), stream[b], r, read);
      }
    }
  }
  if constexpr (requires { move_numbers(rows, row_bytes, blocks, next, stream); }) {
    if (count == packed_rows) b = move_numbers(rows, row_bytes, blocks, next, stream);
  }
  for (; b < blocks; ++b) {  // rows inside, so that a block is written once and read from 16 streams
    for (int r = 0; r < count; ++r) {
      Block copy;
      pack_block(block_at(rows + r * row_bytes + b * sizeof(Block), copy), stream[b], r, OneRow());
    }
  }
}

// ---- scales that are no numbers would turn whole rows into NaN
// All bits set where such a half is.
ShortWords not_finite(const Halves& halves) noexcept {
  ShortWords bad = {};
  for (int r = 0; r < packed_rows; r += 8) {
    bad |= reinterpret_cast<ShortWords>((load_vector<ShortWords>(halves + r) & 0x7C00) == 0x7C00);
  }
  return bad;
}
template <class Packed>
ShortWords not_finite(const Packed& element) noexcept {
  ShortWords bad = {};
  if constexpr (requires { element.scales; }) bad |= not_finite(element.scales);
  if constexpr (requires { element.minima; }) bad |= not_finite(element.minima);
  return bad;
}
ShortWords not_finite(const PackedMXFP4& element) noexcept {
  constexpr std::uint16_t no_number = 254 << 7;
  ShortWords bad = {};
  for (int r = 0; r < packed_rows; r += 8) {
    bad |= reinterpret_cast<ShortWords>(load_vector<ShortWords>(element.scales + r) == no_number);
  }
  return bad;
}

template <class Packed>
bool is_finite(const std::byte* group, std::int64_t blocks) noexcept {
  ShortWords bad = {};
  for (const auto* element = reinterpret_cast<const Packed*>(group); blocks > 0; --blocks, ++element) {
    bad |= not_finite(*element);
  }
  std::uint64_t halves[2];
  std::memcpy(halves, &bad, sizeof bad);
  return (halves[0] | halves[1]) == 0;
}

template <class Block, class Packed>
constexpr GroupPacker packer(Type type) noexcept {
  return {static_cast<std::uint32_t>(type), sizeof(Block), sizeof(Packed), pack_group<Block, Packed>,
          is_finite<Packed>};
}

constexpr GroupPacker packers[] = {
    packer<gguf::BlockQ4_0, PackedQ4_0>(Type::Q4_0),
    packer<gguf::BlockQ4_1, PackedQ4_1>(Type::Q4_1),
    packer<gguf::BlockQ5_0, PackedQ5_0>(Type::Q5_0),
    packer<gguf::BlockQ5_1, PackedQ5_1>(Type::Q5_1),
    packer<gguf::BlockQ8_0, PackedQ8_0>(Type::Q8_0),
    packer<gguf::BlockQ2_K, PackedQ2_K>(Type::Q2_K),
    packer<gguf::BlockQ3_K, PackedQ3_K>(Type::Q3_K),
    packer<gguf::BlockQ4_K, PackedQ4_K>(Type::Q4_K),
    packer<gguf::BlockQ5_K, PackedQ5_K>(Type::Q5_K),
    packer<gguf::BlockQ6_K, PackedQ6_K>(Type::Q6_K),
    packer<gguf::BlockIQ4_NL, PackedQ4_0>(Type::IQ4_NL),
    packer<gguf::BlockIQ4_XS, PackedIQ4_XS>(Type::IQ4_XS),
    packer<gguf::BlockMXFP4, PackedMXFP4>(Type::MXFP4),
    packer<gguf::BlockNVFP4, PackedNVFP4>(Type::NVFP4),
    packer<gguf::BlockIQ1_S, PackedQ3_K>(Type::IQ1_S),
    packer<gguf::BlockIQ1_M, PackedQ3_K>(Type::IQ1_M),
    packer<gguf::BlockIQ2_XXS, PackedQ3_K>(Type::IQ2_XXS),
    packer<gguf::BlockIQ2_XS, PackedQ3_K>(Type::IQ2_XS),
    packer<gguf::BlockIQ2_S, PackedQ3_K>(Type::IQ2_S),
    packer<gguf::BlockIQ3_XXS, PackedIQ4_XS>(Type::IQ3_XXS),
    packer<gguf::BlockIQ3_S, PackedIQ4_XS>(Type::IQ3_S),
    packer<gguf::BlockTQ2_0, PackedTernary<8>>(Type::TQ2_0),
    packer<gguf::BlockTQ1_0, PackedTernary<8>>(Type::TQ1_0),
    packer<gguf::BlockQ2_0, PackedTernary<2>>(Type::Q2_0),
    packer<gguf::BlockQ1_0, PackedTernary<4>>(Type::Q1_0),
    packer<float, PackedF32>(Type::F32),
    packer<gguf::Half, PackedHalf>(Type::F16),
    packer<gguf::Half, PackedHalf>(Type::BF16),
};

}  // namespace

const GroupPacker* find_packer(std::uint32_t type) noexcept {
  for (const GroupPacker& row : packers) {
    if (row.type == type) return &row;
  }
  return nullptr;
}

std::size_t pack(const inlay_tensor& source, std::uint32_t role, std::int64_t first_row, std::int64_t rows,
                 inlay_tensor& packed) noexcept {
  if (role == INLAY_ROLE_TABLE) return 0;
  const GroupPacker* packer = find_packer(source.type);
  const gguf::TypeInfo* info = gguf::find_type(source.type);
  if (!packer || source.rank < 2 || source.rank > 3) return SIZE_MAX;
  const std::int64_t columns = source.shape[source.rank - 1], matrix_rows = source.shape[source.rank - 2];
  if (columns % info->block_values != 0) return SIZE_MAX;
  const std::int64_t blocks = columns / info->block_values;
  const std::size_t group_bytes = blocks * packer->packed_bytes;
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
    packer->pack(from, row_stride, static_cast<int>(count), blocks, from + packed_rows * row_stride, to);
    if (!packer->is_finite(to, blocks)) return SIZE_MAX;
    row += count;
  }
  return groups * group_bytes;
}

}  // namespace inlay::cpu
