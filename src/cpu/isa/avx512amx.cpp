#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels avx512amx = kernels<isa::Avx512Amx>("avx512amx");
}
