// The backend that runs on the processor itself, as its kernels or as their plain twin, the reference.
#pragma once

#include "inlay/backend.h"

namespace inlay::cpu {

// Opened with an instruction set's name ("avx2", "neon_dot", ..., "reference") or with none for the best there is.
const inlay_backend* backend() noexcept;

}  // namespace inlay::cpu
