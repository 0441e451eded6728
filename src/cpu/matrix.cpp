// Weights and their kernels.
#include "cpu/matrix.hpp"

#include <algorithm>

#include "cpu/memory.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {
namespace {

constexpr std::size_t most_piece_bytes = std::size_t{8} << 10;

// Bytes of a row of x that meet so many blocks.
std::size_t bytes_of_x(RowForm form, std::int64_t blocks) noexcept {
  constexpr std::size_t each[form_count] = {sizeof(float), sizeof(std::uint16_t), sizeof(Activation)};
  return each[static_cast<int>(form)] * static_cast<std::size_t>(blocks);
}

}  // namespace

std::size_t row_stride(RowForm form, std::int64_t columns) noexcept {
  const std::size_t bytes = bytes_of_x(form, form == RowForm::rounded ? columns / block_columns : columns);
  return (bytes + alignment - 1) / alignment * alignment + alignment;
}

const WeightKernels* find_weight(const Kernels& kernels, const inlay_tensor& weight) noexcept {
  const std::uint32_t type = weight.type < INLAY_PRIVATE ? weight.type : weight.type - INLAY_PRIVATE;
  for (int i = 0; i < kernels.linear.weight_count; ++i) {
    if (kernels.linear.weights[i].type == type) return &kernels.linear.weights[i];
  }
  return nullptr;
}

Matrix::Matrix(const Kernels& table, const inlay_tensor& weight) noexcept
    : kernels(find_weight(table, weight)),
      data(static_cast<const std::byte*>(weight.data)),
      group_bytes(static_cast<std::size_t>(weight.stride[weight.rank - 2]) * packed_rows),
      rows(static_cast<int>(weight.shape[weight.rank - 2])),
      columns(static_cast<int>(weight.shape[weight.rank - 1])),
      blocks(kernels->form == RowForm::rounded ? columns / block_columns : columns),
      packer_(weight.type < INLAY_PRIVATE ? find_packer(weight.type) : nullptr),
      row_bytes_(static_cast<std::size_t>(weight.stride[weight.rank - 2])),
      row_blocks_(packer_ ? static_cast<int>(columns / gguf::find_type(weight.type)->block_values) : 0),
      piece_(packer_ ? static_cast<int>(std::max<std::size_t>(1, most_piece_bytes / packer_->packed_bytes)) : 0) {}

// act(packed piece, the first of its blocks, how many).
template <class Act>
void Matrix::for_each_piece(int group, std::byte* memory, const Act& act) const noexcept {
  const std::size_t block_bytes = packer_->block_bytes;
  const std::byte *from = data + group * group_bytes, *next = from + group_bytes;
  const int count = std::min(packed_rows, rows - group * packed_rows);
  const int each = blocks / row_blocks_;
  for (int first = 0; first < row_blocks_; first += piece_) {
    const int n = std::min(piece_, row_blocks_ - first);
    packer_->pack(from + first * block_bytes, static_cast<std::int64_t>(row_bytes_), count, n,
                  next + first * block_bytes * packed_rows, memory);
    act(memory, first * each, n * each);
  }
}

void Matrix::multiply_few(int group, const std::byte* x, std::size_t stride, int tokens, float* y,
                          std::byte* memory) const noexcept {
  std::fill_n(y, tokens * packed_rows, 0.0f);
  if (!packer_) return kernels->few(data + group * group_bytes, blocks, x, stride, tokens, y);
  for_each_piece(group, memory, [&](const std::byte* piece, int first, int count) {
    kernels->few(piece, count, x + bytes_of_x(kernels->form, first), stride, tokens, y);
  });
}

const std::byte* Matrix::panel(int group, std::byte* memory) const noexcept {
  const auto unpack = [&](const std::byte* packed, int first, int count) {
    std::byte* to = memory + first * kernels->panel_bytes;
    kernels->unpack ? kernels->unpack(packed, count, to) : void(std::copy_n(packed, count * kernels->panel_bytes, to));
  };
  if (packer_) {
    for_each_piece(group, memory + unpacked_bytes(), unpack);
  } else if (kernels->unpack) {
    unpack(data + group * group_bytes, 0, blocks);
  } else {
    return data + group * group_bytes;
  }
  return memory;
}

}  // namespace inlay::cpu
