// Weights in the form that the kernels read, the same for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inlay/backend.h"

namespace inlay::cpu {

inline constexpr char packed_layout[] = "cpu-16x32-1";  // changes with the layout

// One type's way from the file's blocks to packed ones.
struct GroupPacker {
  std::uint32_t type;
  std::size_t block_bytes, packed_bytes;  // of one of the file's blocks: of a row, and packed of all 16
  // `count` rows, `row_bytes` apart, as one group. As many bytes as are read are fetched from `next` meanwhile.
  void (*pack)(const std::byte* rows, std::int64_t row_bytes, int count, std::int64_t blocks, const std::byte* next,
               std::byte* group) noexcept;
  bool (*is_finite)(const std::byte* group, std::int64_t blocks) noexcept;  // all its scales are numbers
};
const GroupPacker* find_packer(std::uint32_t type) noexcept;  // null: no packed form

// What inlay_backend::pack promises. SIZE_MAX: the weight cannot be packed.
std::size_t pack(const inlay_tensor& source, std::uint32_t role, std::int64_t first_row, std::int64_t rows,
                 inlay_tensor& packed) noexcept;

}  // namespace inlay::cpu
