// Weights in the form that the kernels read, the same for every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inlay/backend.h"

namespace inlay::cpu {

inline constexpr char packed_layout[] = "cpu-16x32-1";  // changes with the layout

// What inlay_backend::pack promises. SIZE_MAX: the weight cannot be packed.
std::size_t pack(const inlay_tensor& source, std::uint32_t role, std::int64_t first_row, std::int64_t rows,
                 inlay_tensor& packed) noexcept;

}  // namespace inlay::cpu
