#include "cpu/kernels/rows.hpp"

namespace inlay::cpu {
extern const RowKernels rows_avx2;
constinit const RowKernels rows_avx2 = row_kernels<isa::Avx2>();
}  // namespace inlay::cpu
