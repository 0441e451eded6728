// Recurrent mixers as phases: a piece of a sequence walks through its tokens alone.
#include "cpu/scan.hpp"

#include <algorithm>

#include "cpu/plan.hpp"

namespace inlay::cpu {
namespace {

bool goes_by_channels(std::uint32_t kind) noexcept {
  return kind == INLAY_SCAN_CONV || kind == INLAY_SCAN_SELECTIVE || kind == INLAY_SCAN_SHIFT;
}

// How many of `in` may not be missing, by kind.
constexpr int needed[] = {1, 4, 4, 4, 5, 3, 0};

}  // namespace

bool can(const Kernels&, const inlay_scan_op& op) noexcept {
  if (op.kind > INLAY_SCAN_SHIFT || op.n < needed[op.kind] || op.heads < 1 || op.groups < 1) return false;
  if (!op.cache || op.act > INLAY_ACT_GELU_QUICK) return false;
  for (int i = 0; i < op.n; ++i) {
    if (!op.in[i] && i < needed[op.kind]) return false;
    if (op.in[i] && op.in[i]->type != INLAY_F32) return false;
  }
  return op.x->type == INLAY_F32 && op.y->type == INLAY_F32;
}

void plan(Plan& plan, const inlay_scan_op& op) {
  const bool channels = goes_by_channels(op.kind);
  const std::int64_t width = columns(*op.x);
  const int pieces = channels ? static_cast<int>((width + piece_channels - 1) / piece_channels) : op.heads;
  std::int64_t scratch = 2 * piece_channels;
  if (op.kind == INLAY_SCAN_CONV) scratch = columns(*op.in[0]) * piece_channels;
  if (!channels) scratch = 5 * scan_tokens * columns(*op.in[0]);
  const ScanKernels& kernels = plan.kernels().scan;
  plan.phase(channels ? kernels.channels : kernels.heads, plan.task(ScanTask{&op, pieces}),
             std::int64_t{plan.batch().seqs} * pieces, static_cast<std::size_t>(scratch) * sizeof(float));
}

}  // namespace inlay::cpu
