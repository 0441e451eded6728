#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels avx512 = kernels<isa::Avx512>("avx512");
}
