// Turns the file's blocks into packed groups: 16 rows side by side, zeros where the matrix has fewer.
#include "cpu/pack.hpp"

#include <algorithm>

#include "cpu/pack_blocks.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

using gguf::Type;

// The block where it lies, or its copy where that is no place for its type. (Always to copy costs more than packing:
// words of the copy lie across the stores that wrote it.)
template <class Block>
const Block& block_at(const std::byte* bytes, Block& copy) noexcept {
  if (reinterpret_cast<std::uintptr_t>(bytes) % alignof(Block) == 0) return *reinterpret_cast<const Block*>(bytes);
  std::memcpy(&copy, bytes, sizeof(Block));
  return copy;
}

// ---- whole groups
template <class Block, class Packed>
bool pack_group(const std::byte* rows, std::int64_t row_bytes, int count, std::int64_t blocks,
                std::byte* group) noexcept {
  auto* stream = reinterpret_cast<Packed*>(group);
  if (count < packed_rows) std::memset(group, 0, blocks * sizeof(Packed));
  bool finite = true;
  for (std::int64_t b = 0; b < blocks; ++b) {  // rows inside, so that a block is written once and read from 16 streams
    for (int r = 0; r < count; ++r) {
      Block copy;
      finite &= pack_block(block_at(rows + r * row_bytes + b * sizeof(Block), copy), stream[b], r);
    }
  }
  return finite;
}

struct Layout {
  Type type;
  std::size_t packed_bytes;  // of one of the file's blocks of all 16 rows
  bool (*pack_group)(const std::byte* rows, std::int64_t row_bytes, int count, std::int64_t blocks,
                     std::byte* group) noexcept;
};

template <class Block, class Packed>
constexpr Layout layout(Type type) noexcept {
  return {type, sizeof(Packed), pack_group<Block, Packed>};
}

constexpr Layout layouts[] = {
    layout<gguf::BlockQ4_0, PackedQ4_0>(Type::Q4_0),
    layout<gguf::BlockQ4_1, PackedQ4_1>(Type::Q4_1),
    layout<gguf::BlockQ5_0, PackedQ5_0>(Type::Q5_0),
    layout<gguf::BlockQ5_1, PackedQ5_1>(Type::Q5_1),
    layout<gguf::BlockQ8_0, PackedQ8_0>(Type::Q8_0),
    layout<gguf::BlockQ2_K, PackedQ2_K>(Type::Q2_K),
    layout<gguf::BlockQ3_K, PackedQ3_K>(Type::Q3_K),
    layout<gguf::BlockQ4_K, PackedQ4_K>(Type::Q4_K),
    layout<gguf::BlockQ5_K, PackedQ5_K>(Type::Q5_K),
    layout<gguf::BlockQ6_K, PackedQ6_K>(Type::Q6_K),
    layout<gguf::BlockIQ4_NL, PackedQ4_0>(Type::IQ4_NL),
    layout<gguf::BlockIQ4_XS, PackedIQ4_XS>(Type::IQ4_XS),
    layout<gguf::BlockMXFP4, PackedMXFP4>(Type::MXFP4),
    layout<gguf::BlockTQ2_0, PackedTernary<8>>(Type::TQ2_0),
    layout<gguf::BlockTQ1_0, PackedTernary<8>>(Type::TQ1_0),
    layout<gguf::BlockQ2_0, PackedTernary<2>>(Type::Q2_0),
    layout<gguf::BlockQ1_0, PackedTernary<4>>(Type::Q1_0),
    layout<float, PackedF32>(Type::F32),
    layout<gguf::Half, PackedHalf>(Type::F16),
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
