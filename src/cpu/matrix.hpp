// What linear layers and experts share: a packed weight with its kernels, and products of a group of 16 rows.
#pragma once

#include "cpu/kernels.hpp"

namespace inlay::cpu {

// Bytes of unpacked groups that stay in the second-level cache while tokens pass by.
inline constexpr std::size_t panel_budget = std::size_t{160} << 10;
inline constexpr int token_block = 48;  // a multiple of every tile

// From one row of x in that form to the next, a whole line more than it has: rows of a power of two would share one set
// of the cache.
std::size_t row_stride(RowForm form, std::int64_t columns) noexcept;

// The kernels for a packed weight; null where there are none.
const WeightKernels* find_weight(const Kernels& kernels, const inlay_tensor& weight) noexcept;

struct Matrix {
  const WeightKernels* kernels;
  const std::byte* data;
  std::size_t group_bytes;
  int rows, columns, blocks;

  Matrix(const Kernels& table, const inlay_tensor& weight) noexcept;
  int groups() const noexcept { return (rows + packed_rows - 1) / packed_rows; }
  const std::byte* group(int index) const noexcept { return data + index * group_bytes; }
  std::size_t panel_bytes() const noexcept { return (blocks + blocks % 2) * kernels->panel_bytes; }
  // The group as many() reads it: unpacked into `panel`, or as it lies where that is already so.
  const std::byte* panel(int index, std::byte* memory) const noexcept;
};

}  // namespace inlay::cpu
