#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels neon_i8mm = kernels<isa::NeonI8mm>("neon_i8mm");
}
