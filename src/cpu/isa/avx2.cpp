#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels avx2 = kernels<isa::Avx2>("avx2");
}
