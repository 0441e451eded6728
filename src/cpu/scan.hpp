// The work of one recurrent mixer: for each sequence, pieces whose states do not touch.
#pragma once

#include "cpu/cache.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {

inline constexpr int piece_channels = 64;  // of the kinds whose channels do not touch
inline constexpr int scan_tokens = 16;     // prepared at once

struct ScanTask {
  const inlay_scan_op* op;
  int pieces;  // of a sequence: heads, or runs of channels
};

namespace {  // also compiled for each instruction set

// One piece of one sequence.
struct ScanPiece {
  const inlay_scan_op& op;
  std::int64_t first, end;  // tokens
  std::int64_t number;      // of the piece
  float* state;             // of the sequence
  float* scratch;

  ScanPiece(const ScanTask& task, const Chunk& chunk) noexcept : op(*task.op), number(chunk.index % task.pieces) {
    const int sequence = chunk.index / task.pieces;
    first = chunk.batch->query_start[sequence];
    end = chunk.batch->query_start[sequence + 1];
    state = state_address(*op.cache, chunk.batch->state_slot[sequence]) + op.state_offset / sizeof(float);
    scratch = reinterpret_cast<float*>(chunk.scratch);
  }

  const inlay_tensor* input(int i) const noexcept { return i < op.n ? op.in[i] : nullptr; }
  const float* numbers(int i) const noexcept { return input(i) ? static_cast<const float*>(input(i)->data) : nullptr; }
};

[[maybe_unused]] inline std::int64_t columns(const inlay_tensor& tensor) noexcept {
  return tensor.shape[tensor.rank - 1];
}
[[maybe_unused]] inline std::int64_t rows(const inlay_tensor& tensor) noexcept {
  std::int64_t count = 1;
  for (std::uint32_t i = 0; i + 1 < tensor.rank; ++i) count *= tensor.shape[i];
  return count;
}

}  // namespace
}  // namespace inlay::cpu
