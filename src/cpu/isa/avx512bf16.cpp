#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels avx512bf16 = kernels<isa::Avx512Bf16>("avx512bf16");
}
