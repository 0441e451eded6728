#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels neon = kernels<isa::Neon>("neon");
}
