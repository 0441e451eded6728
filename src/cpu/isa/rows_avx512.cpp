#include "cpu/kernels/rows.hpp"

namespace inlay::cpu {
extern const RowKernels rows_avx512;
constinit const RowKernels rows_avx512 = row_kernels<isa::Avx512>();
}  // namespace inlay::cpu
