// All kernels of one instruction set; only the files in isa/ include this.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/linear.hpp"

namespace inlay::cpu {
namespace {

template <class A>
constexpr Kernels kernels(const char* name) noexcept {
  return {.name = name, .linear = linear_kernels<A>(), .pointwise = {}, .attention = {}};
}

}  // namespace
}  // namespace inlay::cpu
