// Passes over logits in the best instructions that the host has.
#pragma once

#include "cpu/cpu.hpp"
#include "runtime/sampling_candidates.hpp"

namespace inlay {
inline namespace v0 {

static_assert(cpu::row_stretch == std::int64_t(runtime::RowPasses::stretch));

inline runtime::RowPasses row_passes() noexcept {
  const auto& kernels = *cpu::row_kernels(0);
  return {kernels.maxima, kernels.mass};
}

}  // namespace v0
}  // namespace inlay
