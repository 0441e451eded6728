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

// Rows of a weight. Those that lie as in the file are packed whenever they are read, a piece at a time, which stays in
// the first cache.
class Matrix {
 public:
  const WeightKernels* kernels;
  const std::byte* data;
  std::size_t group_bytes;  // where it lies
  int rows, columns, blocks;

  Matrix(const Kernels& table, const inlay_tensor& weight) noexcept;
  int groups() const noexcept { return (rows + packed_rows - 1) / packed_rows; }

  // y[tokens][16] of a group. `memory`, of few_bytes(), is where pieces are packed.
  void multiply_few(int group, const std::byte* x, std::size_t stride, int tokens, float* y,
                    std::byte* memory) const noexcept;
  std::size_t few_bytes() const noexcept { return packer_ ? piece_bytes() : 0; }

  // The group as many() reads it: unpacked into `memory`, of panel_bytes(), or as it lies where that is already so.
  const std::byte* panel(int group, std::byte* memory) const noexcept;
  std::size_t panel_bytes() const noexcept { return unpacked_bytes() + few_bytes(); }

 private:
  template <class Act>
  void for_each_piece(int group, std::byte* memory, const Act& act) const noexcept;
  std::size_t piece_bytes() const noexcept { return piece_ * packer_->packed_bytes; }
  std::size_t unpacked_bytes() const noexcept { return (blocks + blocks % 2) * kernels->panel_bytes; }

  const GroupPacker* packer_;  // null: packed already
  std::size_t row_bytes_;      // in the file
  int row_blocks_, piece_;     // blocks of the file
};

}  // namespace inlay::cpu
