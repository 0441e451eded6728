#include "cpu/kernels-inl.hpp"

namespace inlay::cpu {
constinit const Kernels baseline = kernels<isa::Baseline>("baseline");
}
