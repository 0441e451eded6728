#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels avx512vnni = kernels<isa::Avx512Vnni>("avx512vnni");
}
