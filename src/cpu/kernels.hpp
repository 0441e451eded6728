// The kernels of one instruction set as plain function pointers, and the table of instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inlay/backend.h"

namespace inlay::cpu {

// One chunk of a phase, as a kernel sees it.
struct Chunk {
  const void* task;          // the operation, or what its plan made of it
  const inlay_batch* batch;
  std::byte* scratch;        // this worker's own, 64-byte aligned
  int index, count;          // chunk `index` of `count`
  bool first;                // this worker's first chunk of this phase
};
using Kernel = void (*)(const Chunk&) noexcept;

// ---- matrix products (kernels/linear.hpp)
struct LinearKernels {
  Kernel quantize;  // task LinearTask: the rows of x, normed where asked, into the layout that multiply reads
  Kernel multiply;  // task LinearTask: one block of output rows
};

// ---- rows of activations (kernels/norm.hpp, binary.hpp, glu.hpp). Tasks are the operations themselves.
struct PointwiseKernels {
  Kernel norm, binary, glu;
};

// ---- attention and the cache (kernels/attention.hpp)
struct AttentionKernels {
  Kernel store;   // rotated keys and values of this step into their pages
  Kernel attend;  // one tile of queries over one part of the keys; the last to arrive merges the parts
};

struct Kernels {
  const char* name;
  LinearKernels linear;
  PointwiseKernels pointwise;
  AttentionKernels attention;
};

// One for each file in isa/ that this processor family has.
extern const Kernels baseline, avx2, avx512, avx512vnni, avx512bf16, neon, neon_dot, neon_i8mm;

// Those compiled in that this processor can run, best first; null ends the list.
const Kernels* usable(int index) noexcept;

}  // namespace inlay::cpu
