// What linear layers and experts share: a packed weight with its kernels, and products of a group of 16 rows.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/pack.hpp"

namespace inlay::cpu {

// Bytes of unpacked groups that stay in the second-level cache while tokens pass by.
inline constexpr std::size_t panel_budget = std::size_t{160} << 10;
inline constexpr int token_block = 48;  // a multiple of every tile

// From one row of x in that form to the next, a whole line more than it has: rows of a power of two would share one set
// of the cache.
std::size_t row_stride(RowForm form, std::int64_t columns) noexcept;

// The kernels for a weight, packed or as the model's file has it; null where there are none.
const WeightKernels* find_weight(const Kernels& kernels, const inlay_tensor& weight) noexcept;

// Rows of a weight. Those that lie as in the file are packed a group at a time, whenever they are read.
struct Matrix {
  const WeightKernels* kernels;
  const GroupPacker* packer;  // null: packed already
  const std::byte* data;
  std::size_t group_bytes;
  int rows, columns, blocks;

  Matrix(const Kernels& table, const inlay_tensor& weight) noexcept;
  int groups() const noexcept { return (rows + packed_rows - 1) / packed_rows; }
  // `memory`, of panel_bytes(), is where it may be put.
  const std::byte* group(int index, std::byte* memory) const noexcept;
  std::size_t panel_bytes() const noexcept { return unpacked_bytes() + (packer ? group_bytes : 0); }
  // The group as many() reads it: unpacked into `panel`, or as it lies where that is already so.
  const std::byte* panel(int index, std::byte* memory) const noexcept;

 private:
  std::size_t unpacked_bytes() const noexcept { return (blocks + blocks % 2) * kernels->panel_bytes; }
  std::size_t row_bytes;  // in the file
  std::int64_t row_blocks;
};

}  // namespace inlay::cpu
