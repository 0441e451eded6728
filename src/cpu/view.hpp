// How kernels see tensors and share them out: rows of the last dimension.
#pragma once

#include <cstdint>

#include "cpu/kernels.hpp"

namespace inlay::cpu {
namespace {  // one copy for each instruction set

// A tensor of rank 1 to 3 as rows of its last dimension.
template <class T>
struct RowsOf {
  std::byte* data;
  std::int64_t count, width;
  std::int64_t inner, outer_stride, inner_stride;

  explicit RowsOf(const inlay_tensor& tensor) noexcept
      : data(static_cast<std::byte*>(tensor.data)), width(tensor.shape[tensor.rank - 1]) {
    inner = tensor.rank == 3 ? tensor.shape[1] : 1;
    count = tensor.rank == 1 ? 1 : tensor.shape[0] * inner;
    outer_stride = tensor.rank == 1 ? 0 : tensor.stride[0];
    inner_stride = tensor.rank == 3 ? tensor.stride[1] : 0;
  }
  T* operator[](std::int64_t row) const noexcept {
    if (inner == 1) return reinterpret_cast<T*>(data + row * outer_stride);  // dividing takes longer than a short row
    return reinterpret_cast<T*>(data + row / inner * outer_stride + row % inner * inner_stride);
  }
};
using Rows = RowsOf<float>;

// Row `row` of a tensor of any rank; a stride may be 0.
[[maybe_unused]] inline float* row_address(const inlay_tensor& tensor, std::int64_t row) noexcept {
  auto* address = static_cast<std::byte*>(tensor.data);
  for (std::uint32_t i = tensor.rank - 1; i-- > 0; row /= tensor.shape[i])
    address += row % tensor.shape[i] * tensor.stride[i];
  return reinterpret_cast<float*>(address);
}

// Gains, biases and the like: small tensors that may be absent, whose rows are used over and over.
struct OptionalRows {
  Rows rows;
  bool present;

  explicit OptionalRows(const inlay_tensor* tensor) noexcept : rows(tensor ? *tensor : nothing), present(tensor) {}
  const float* operator[](std::int64_t row) const noexcept { return present ? rows[row % rows.count] : nullptr; }

  static constexpr inlay_tensor nothing = {nullptr, INLAY_F32, 1, {1}, {}};
};

// The part of `total` that chunk `index` of `count` works on.
struct Share {
  std::int64_t begin, end;
  Share(std::int64_t total, const Chunk& chunk) noexcept
      : begin(total * chunk.index / chunk.count), end(total * (chunk.index + 1) / chunk.count) {}
};

}  // namespace
}  // namespace inlay::cpu
