// The backend that runs on the processor itself, as its kernels or as their plain twin, the reference.
#pragma once

#include <cstdint>

#include "inlay/backend.h"

namespace inlay::cpu {

// Opened with an instruction set's name ("avx2", "neon_dot", ..., "reference") or with none for the best there is.
const inlay_backend* backend() noexcept;

// Passes over rows of logits in the host's memory.
struct RowKernels {
  // The largest of every row_stretch of x[n], a shorter one at the end. False where x holds NaN or +infinity.
  bool (*maxima)(const float* x, std::int64_t n, float* most) noexcept;
  // The sum of e^(x[i] - top), where top is the largest.
  double (*mass)(const float* x, std::int64_t n, float top) noexcept;
};
inline constexpr std::int64_t row_stretch = 64;

// Those that this processor can run, best first; null ends the list.
const RowKernels* row_kernels(int index) noexcept;

}  // namespace inlay::cpu
