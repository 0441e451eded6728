// The kernels of one instruction set as plain function pointers, and the table of instruction sets.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cpu/packed.hpp"
#include "inlay/backend.h"

namespace inlay::cpu {

// One chunk of a phase, as a kernel sees it.
struct Chunk {
  const void* task;  // the operation, or what its plan made of it
  const inlay_batch* batch;
  std::byte* scratch;  // this worker's own, 64-byte aligned
  int index, count;    // chunk `index` of `count`
  bool first;          // this worker's first chunk of this phase
};
using Kernel = void (*)(const Chunk&) noexcept;

// ---- matrix products (kernels/linear.hpp)
// How rows of x are read: as they are; rounded to bfloat16, with zeros to the end of a cache line; or as Activations.
enum class RowForm : std::uint8_t { floats, bfloats, rounded };
inline constexpr int form_count = 3;

// For one type of packed weight. A group is 16 rows of it, `blocks` blocks long (of one column unless x is rounded to
// bytes). Rows of x lie `stride` bytes apart; many() may want Activations in tiles. few() adds to y, so that a group
// may come in pieces; both give the same bits.
struct WeightKernels {
  std::uint32_t type;       // the file's type
  RowForm form;             // of x
  std::size_t panel_bytes;  // of one block of an unpacked group, which has an even number of them
  void (*few)(const std::byte* group, int blocks, const std::byte* x, std::size_t stride, int tokens,
              float* y) noexcept;                                                 // y[tokens][16] += ...
  void (*unpack)(const std::byte* group, int blocks, std::byte* panel) noexcept;  // null: a group is a panel
  void (*many)(const std::byte* const* panels, int count, int blocks, const std::byte* x, std::size_t stride,
               int tokens, float* const* y) noexcept;  // of one or two panels: y[count][tokens, in whole tiles][16]
};

// How many() wants rounded rows: `tokens` of them in a tile. One: as they are.
struct TileForm {
  int tokens;
  std::size_t block_bytes;                                                             // of one block of a tile
  void (*put)(const Activation* row, int blocks, int lane, std::byte* tile) noexcept;  // a row into its lane of a tile
};

struct LinearKernels {
  const WeightKernels* weights;
  int weight_count, few_tokens;  // so many do without unpacking
  TileForm tile;
  void (*quantize)(const float* x, int blocks, Activation* y) noexcept;
  void (*bfloats)(const float* x, int n, std::uint16_t* y) noexcept;  // null where no weight reads that form
  void (*norm_row)(const inlay_norm_op& op, float* y, const float* x, const float* gain, const float* bias,
                   std::int64_t n) noexcept;
  void (*glu_row)(std::uint32_t act, float alpha, float limit, float* y, const float* gate, const float* up,
                  std::int64_t n) noexcept;
};

// ---- rows of activations (kernels/norm.hpp, binary.hpp, glu.hpp). Tasks are the operations themselves.
struct PointwiseKernels {
  Kernel norm, binary, glu;
};

// ---- attention and the cache (kernels/attention.hpp)
struct AttentionKernels {
  Kernel store;             // rotated keys and values of this step into their pages
  Kernel attend;            // one tile of queries over one part of the keys; the last to arrive merges the parts
  Kernel choose;            // which keys a few tokens are to read
  std::uint32_t fast_type;  // of 16 bits: which keys and values it reads fastest
};

// ---- recurrent mixers (kernels/scan_*.hpp)
struct ScanKernels {
  Kernel channels, heads;  // one piece of one sequence
};

struct Kernels {
  const char* name;
  LinearKernels linear;
  PointwiseKernels pointwise;
  AttentionKernels attention;
  ScanKernels scan;
};

// One for each file in isa/ that this processor family has.
extern const Kernels baseline, avx2, avx512, avx512vnni, avx512bf16, avx512amx, neon, neon_dot, neon_i8mm;

// Those compiled in that this processor can run, best first; null ends the list.
const Kernels* usable(int index) noexcept;

}  // namespace inlay::cpu
