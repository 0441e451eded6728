#include "cpu/kernels/rows.hpp"

namespace inlay::cpu {
extern const RowKernels rows_neon;
constinit const RowKernels rows_neon = row_kernels<isa::Neon>();
}  // namespace inlay::cpu
