// The reference device: every operation as its formula, in double, one thread; what all kernels are measured against.
#pragma once

#include "cpu/device.hpp"

namespace inlay::cpu {

inlay_device* open_reference(const inlay_host& host);

}  // namespace inlay::cpu
