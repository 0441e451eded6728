// Rows of tensors of every type, as the doubles that the reference computes with.
#include "cpu/reference_tensor.hpp"

#include <algorithm>

#include "gguf/dequantize.hpp"
#include "gguf/types.hpp"

namespace inlay::cpu::reference {

std::int64_t rows(const inlay_tensor& tensor) noexcept {
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i + 1 < tensor.rank; ++i) count *= tensor.shape[i];
  return count;
}

void* row_address(const inlay_tensor& tensor, std::int64_t row) noexcept {
  auto* address = static_cast<char*>(tensor.data);
  for (std::uint32_t i = tensor.rank - 1; i-- > 0; row /= tensor.shape[i]) {
    address += row % tensor.shape[i] * tensor.stride[i];
  }
  return address;
}

void widen(std::uint32_t type, const void* source, float* values, std::int64_t count) noexcept {
  gguf::dequantize(static_cast<gguf::Type>(type), source, values, static_cast<std::size_t>(count));
}

void read(const inlay_host& host, const inlay_tensor& tensor, std::int64_t first, Matrix& matrix) {
  HostVector<float> row(static_cast<std::size_t>(matrix.cols()), HostAllocator<float>(host));
  for (std::int64_t i = 0; i < matrix.rows(); ++i) {
    widen(tensor.type, row_address(tensor, first + i), row.data(), matrix.cols());
    std::copy(row.begin(), row.end(), matrix.row(i).data());
  }
}

bool is_float(std::uint32_t type) noexcept { return type == INLAY_F32 || type == INLAY_F16 || type == INLAY_BF16; }

bool is_known(std::uint32_t type) noexcept { return gguf::find_type(type) != nullptr; }

std::int64_t block_values(std::uint32_t type) noexcept { return gguf::find_type(type)->block_values; }

std::size_t row_bytes(std::uint32_t type, std::int64_t count) noexcept {
  return gguf::bytes_of(static_cast<gguf::Type>(type), static_cast<std::uint64_t>(count));
}

}  // namespace inlay::cpu::reference
