// Operations on rows of activations as phases, and those that need no instruction set of their own.
#include <algorithm>
#include <cmath>

#include "cpu/plan.hpp"
#include "cpu/rotations.hpp"
#include "cpu/view.hpp"
#include "gguf/dequantize.hpp"

namespace inlay::cpu {
namespace {

bool is_f32(const inlay_tensor* tensor) noexcept {
  return tensor && tensor->type == INLAY_F32 && tensor->rank >= 1 && tensor->rank <= 3;
}
bool is_f32_or_absent(const inlay_tensor* tensor) noexcept { return !tensor || is_f32(tensor); }

// Rows are shared out so that a chunk is worth claiming and every worker gets some.
int chunks_of(const Plan& plan, const inlay_tensor& tensor) noexcept {
  const Rows rows(tensor);
  constexpr std::int64_t worthwhile = 8192;  // values
  const std::int64_t most = plan.workers() == 1 ? 1 : 4 * plan.workers();
  return static_cast<int>(std::clamp<std::int64_t>(rows.count * rows.width / worthwhile, 1,
                                                   std::min(most, std::max<std::int64_t>(rows.count, 1))));
}

void embed(const Chunk& chunk) noexcept {
  const auto& op = *static_cast<const inlay_embed_op*>(chunk.task);
  const inlay_tensor& table = *op.table;
  const auto* rows = static_cast<const std::byte*>(table.data);
  const std::int32_t* by[] = {chunk.batch->ids, chunk.batch->positions, chunk.batch->types};
  const Rows y(*op.y);
  const Share share(y.count, chunk);
  for (auto t = share.begin; t < share.end; ++t) {
    const std::int32_t row = by[op.by] ? by[op.by][t] : 0;
    gguf::dequantize(static_cast<gguf::Type>(table.type), rows + row * table.stride[0], y[t], y.width);
  }
}

struct RopeTask {
  const inlay_rope_op* op;
  const Turn* turns;
};

void rope(const Chunk& chunk) noexcept {
  const auto& [op, turns] = *static_cast<const RopeTask*>(chunk.task);
  const Rows x(*op->x);
  const std::int64_t heads = x.inner, pairs = op->dims / 2;
  const Share share(x.count, chunk);
  for (auto row = share.begin; row < share.end; ++row) rotate_head(*op, turns + row / heads * pairs, x[row], x[row]);
}

void pick(const Chunk& chunk) noexcept {
  const auto& op = *static_cast<const inlay_pick_op*>(chunk.task);
  const Rows y(*op.y), x(*op.x);
  const auto* rows = op.kind == INLAY_PICK_ROWS ? static_cast<const std::int32_t*>(op.rows->data) : nullptr;
  const Share share(y.count, chunk);
  for (auto i = share.begin; i < share.end; ++i) {
    if (rows) {
      std::copy_n(x[rows[i]], y.width, y[i]);
      continue;
    }
    const std::int64_t begin = chunk.batch->query_start[i], end = chunk.batch->query_start[i + 1];
    if (op.kind == INLAY_PICK_FIRST || op.kind == INLAY_PICK_LAST) {
      std::copy_n(x[op.kind == INLAY_PICK_FIRST ? begin : end - 1], y.width, y[i]);
      continue;
    }
    for (std::int64_t d = 0; d < y.width; ++d) {
      double sum = 0;
      for (auto t = begin; t < end; ++t) sum += x[t][d];
      y[i][d] = static_cast<float>(sum / static_cast<double>(end - begin));
    }
  }
}

}  // namespace

bool can(const Kernels&, const inlay_embed_op& op) noexcept {
  return is_f32(op.y) && op.by <= INLAY_EMBED_TYPE && op.table->rank == 2 && gguf::find_type(op.table->type);
}
void plan(Plan& plan, const inlay_embed_op& op) { plan.phase(embed, &op, chunks_of(plan, *op.y)); }

bool can(const Kernels&, const inlay_norm_op& op) noexcept {
  return is_f32(op.y) && is_f32(op.x) && is_f32_or_absent(op.gain) && is_f32_or_absent(op.bias) &&
         op.kind <= INLAY_NORM_SPREAD;
}
void plan(Plan& plan, const inlay_norm_op& op) {
  plan.phase(plan.kernels().pointwise.norm, &op, chunks_of(plan, *op.x));
}

bool can(const Kernels&, const inlay_binary_op& op) noexcept {
  return is_f32(op.y) && is_f32(op.a) && is_f32_or_absent(op.b) && op.kind <= INLAY_BINARY_MUL;
}
void plan(Plan& plan, const inlay_binary_op& op) {
  plan.phase(plan.kernels().pointwise.binary, &op, chunks_of(plan, *op.a));
}

bool can(const Kernels&, const inlay_glu_op& op) noexcept {
  return is_f32(op.y) && is_f32(op.gate) && is_f32_or_absent(op.up) && op.act <= INLAY_ACT_SWIGLU_BOUNDED;
}
void plan(Plan& plan, const inlay_glu_op& op) {
  plan.phase(plan.kernels().pointwise.glu, &op, chunks_of(plan, *op.gate));
}

bool can(const Kernels&, const inlay_rope_op& op) noexcept {
  return is_f32(op.x) && op.x->rank == 3 && op.dims % 2 == 0 && op.dims <= op.x->shape[2] && is_f32(op.frequencies);
}
void plan(Plan& plan, const inlay_rope_op& op) {
  plan.phase(rope, plan.task(RopeTask{&op, rotations(plan, op)}), chunks_of(plan, *op.x));
}

bool can(const Kernels&, const inlay_pick_op& op) noexcept {
  return is_f32(op.y) && is_f32(op.x) && op.kind <= INLAY_PICK_LAST &&
         (op.kind != INLAY_PICK_ROWS || op.rows->type == INLAY_I32);
}
void plan(Plan& plan, const inlay_pick_op& op) { plan.phase(pick, &op, chunks_of(plan, *op.y)); }

}  // namespace inlay::cpu
