#include "cpu/kernels/rows.hpp"

namespace inlay::cpu {
extern const RowKernels rows_baseline;
constinit const RowKernels rows_baseline = row_kernels<isa::Baseline>();
}  // namespace inlay::cpu
