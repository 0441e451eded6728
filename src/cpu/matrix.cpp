// Packed weights and their kernels.
#include "cpu/matrix.hpp"

#include "cpu/memory.hpp"

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
  for (int i = 0; i < kernels.linear.weight_count; ++i) {
    const WeightKernels& row = kernels.linear.weights[i];
    if (weight.type == INLAY_PRIVATE + row.type) return &row;
  }
  return nullptr;
}

Matrix::Matrix(const Kernels& table, const inlay_tensor& weight) noexcept
    : kernels(find_weight(table, weight)),
      data(static_cast<const std::byte*>(weight.data)),
      group_bytes(static_cast<std::size_t>(weight.stride[weight.rank - 2]) * packed_rows),
      rows(static_cast<int>(weight.shape[weight.rank - 2])),
      columns(static_cast<int>(weight.shape[weight.rank - 1])),
      blocks(kernels->form == RowForm::rounded ? columns / block_columns : columns) {}

const std::byte* Matrix::panel(int index, std::byte* memory) const noexcept {
  if (!kernels->unpack) return group(index);
  kernels->unpack(group(index), blocks, memory);
  return memory;
}

}  // namespace inlay::cpu
