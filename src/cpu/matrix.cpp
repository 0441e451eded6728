// Weights and their kernels.
#include "cpu/matrix.hpp"

#include <algorithm>

#include "cpu/memory.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu {

std::size_t row_stride(RowForm form, std::int64_t columns) noexcept {
  std::size_t bytes = static_cast<std::size_t>(columns);
  switch (form) {
    case RowForm::floats: bytes *= sizeof(float); break;
    case RowForm::bfloats: bytes *= sizeof(std::uint16_t); break;
    case RowForm::rounded: bytes = bytes / block_columns * sizeof(Activation); break;
  }
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
      packer(weight.type < INLAY_PRIVATE ? find_packer(weight.type) : nullptr),
      data(static_cast<const std::byte*>(weight.data)),
      rows(static_cast<int>(weight.shape[weight.rank - 2])),
      columns(static_cast<int>(weight.shape[weight.rank - 1])),
      blocks(kernels->form == RowForm::rounded ? columns / block_columns : columns),
      row_bytes(static_cast<std::size_t>(weight.stride[weight.rank - 2])),
      row_blocks(packer ? columns / gguf::find_type(weight.type)->block_values : 0) {
  group_bytes = packer ? row_blocks * packer->packed_bytes : row_bytes * packed_rows;
}

const std::byte* Matrix::group(int index, std::byte* memory) const noexcept {
  if (!packer) return data + index * group_bytes;
  const int first = index * packed_rows;
  packer->pack(data + first * row_bytes, static_cast<std::int64_t>(row_bytes), std::min(packed_rows, rows - first),
               row_blocks, memory);
  return memory;
}

const std::byte* Matrix::panel(int index, std::byte* memory) const noexcept {
  if (!kernels->unpack) return group(index, memory);
  kernels->unpack(group(index, memory + unpacked_bytes()), blocks, memory);
  return memory;
}

}  // namespace inlay::cpu
