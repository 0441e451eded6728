// All kernels of one instruction set; only the files in isa/ include this.
#pragma once

#include "cpu/kernels.hpp"
#include "cpu/kernels/attention.hpp"
#include "cpu/kernels/binary.hpp"
#include "cpu/kernels/choose.hpp"
#include "cpu/kernels/glu.hpp"
#include "cpu/kernels/linear.hpp"
#include "cpu/kernels/norm.hpp"
#include "cpu/kernels/scan_channels.hpp"
#include "cpu/kernels/scan_heads.hpp"

namespace inlay::cpu {
namespace {

template <class A>
constexpr Kernels kernels(const char* name) noexcept {
  return {.name = name,
          .linear = linear_kernels<A>(),
          .pointwise = {.norm = norm<A>, .binary = binary<A>, .glu = glu<A>},
          .attention = {.store = store<A>,
                        .attend = attend<A>,
                        .choose = choose<A>,
                        .fast_type = has_pairs<A> ? INLAY_BF16 : INLAY_F16},
          .scan = {.channels = scan_channels<A>, .heads = scan_heads<A>}};
}

}  // namespace
}  // namespace inlay::cpu
