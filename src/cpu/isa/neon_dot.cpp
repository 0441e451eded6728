#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels neon_dot = kernels<isa::NeonDot>("neon_dot");
}
