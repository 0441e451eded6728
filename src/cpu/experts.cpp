// Mixtures of experts: tokens are grouped by expert, so that each expert's weights are read once a step.
#include <algorithm>

#include "cpu/expert_block.hpp"
#include "cpu/plan.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

constexpr int few_pairs = 16;  // so few (token, choice) pairs are grouped and prepared by every worker for itself

// Rows [begin, end) of what the first product reads: one for each token, or for each pair where the weight comes first.
void prepare_rows(const ExpertTask& task, std::int64_t begin, std::int64_t end, float* weighted,
                  std::byte* rows) noexcept {
  const Rows x(*task.op->x);
  for (std::int64_t i = begin; i < end; ++i) {
    const float* row = x[task.op->weight_first ? i / task.chosen : i];
    if (task.op->weight_first) {
      const float weight = Rows(*task.op->weight)[i / task.chosen][i % task.chosen];
      for (int d = 0; d < task.width; ++d) weighted[d] = row[d] * weight;
      row = weighted;
    }
    put_row(task, task.gate.kernels->form, row, task.width, rows + i * row_stride(task.gate));
  }
}

void prepare(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const ExpertTask*>(chunk.task);
  if (chunk.index == 0) group_pairs(task, task.shared_groups);
  const Share share(task.input_rows(), chunk);
  prepare_rows(task, share.begin, share.end, Scratch(task, chunk.scratch).weighted, task.shared_rows);
}

void multiply_in(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const ExpertTask*>(chunk.task);
  const Scratch scratch(task, chunk.scratch);
  if (!task.shared_groups && chunk.first) {
    group_pairs(task, scratch.own_groups);
    prepare_rows(task, 0, task.input_rows(), scratch.weighted, scratch.own_rows);
  }
  const Grouping groups = grouping_in(task, task.shared_groups ? task.shared_groups : scratch.own_groups);
  const std::byte* inputs = task.shared_groups ? task.shared_rows : scratch.own_rows;
  const int place = chunk.index / task.chunks_of_hidden;
  if (place >= groups.active) return;
  const GatedBlock block(task, scratch, groups, place, chunk.index % task.chunks_of_hidden * chunk_columns);
  const int pairs = block.end - block.begin;
  for (int first = 0; first < pairs; first += token_block) {
    const int n = std::min(token_block, pairs - first);
    block.compute(block.gather(inputs, first, n), first, n);
  }
}

// Rows [row, row + rows) of every expert's output for its pairs, into scratch.parts.
void multiply_group_out(const ExpertTask& task, const Scratch& scratch, const Grouping& groups, int row,
                        int rows) noexcept {
  for (int place = 0; place < groups.active; ++place) {
    const int expert = groups.experts[place], begin = groups.starts[place], pairs = groups.starts[place + 1] - begin;
    const bool few = task.few(pairs);
    const PairRows hidden = GatedBlock::hidden_rows(task, groups, place);
    const Matrix down = of_expert(task.down, *task.op->down, expert);
    const int group = row / packed_rows;
    std::byte* memory = scratch.panels[0][0];
    const std::byte* panel = panel_of(down, few, group, memory);
    for (int first = 0; first < pairs; first += token_block) {
      const int n = std::min(token_block, pairs - first);
      multiply(down, group, panel, hidden, first, n, scratch.sums[0], memory);
      weigh(scratch.sums[0], n, rows, task.scales[2], bias_of(task.op->down_bias, expert, row));
      for (int i = 0; i < n; ++i) {
        const int pair = groups.pairs[begin + first + i];
        std::copy_n(scratch.sums[0] + i * packed_rows, rows, scratch.parts + pair * packed_rows);
      }
    }
  }
}

// One group of output rows of all experts; each token's choices are added in their order.
void multiply_out(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const ExpertTask*>(chunk.task);
  const Scratch scratch(task, chunk.scratch);
  if (!task.shared_groups && chunk.first) group_pairs(task, scratch.own_groups);
  const Grouping groups = grouping_in(task, task.shared_groups ? task.shared_groups : scratch.own_groups);
  const int row = chunk.index * packed_rows, rows = std::min(packed_rows, task.width - row);
  multiply_group_out(task, scratch, groups, row, rows);
  const Rows y(*task.op->y), weights(*task.op->weight);
  for (int t = 0; t < task.tokens; ++t) {
    float sums[packed_rows] = {};
    for (int c = 0; c < task.chosen; ++c) {
      const float weight = task.op->weight_first ? 1.0f : weights[t][c];
      const float* part = scratch.parts + (t * task.chosen + c) * packed_rows;
      for (int r = 0; r < rows; ++r) sums[r] += weight * part[r];
    }
    float* to = y[t] + row;
    for (int r = 0; r < rows; ++r) to[r] = task.op->accumulate ? to[r] + sums[r] : sums[r];
  }
}

bool can_multiply(const Kernels& kernels, const inlay_tensor* stack) noexcept {
  return stack && stack->rank == 3 && find_weight(kernels, *stack);
}

}  // namespace

bool can(const Kernels& kernels, const inlay_experts_op& op) noexcept {
  for (const auto* factor : {op.gate_factor, op.up_factor})
    if (factor && (factor->type != INLAY_F32 || factor->rank != 1)) return false;
  return can_multiply(kernels, op.gate) && can_multiply(kernels, op.down) && (!op.up || can_multiply(kernels, op.up)) &&
         (!op.up || find_weight(kernels, *op.up)->form == find_weight(kernels, *op.gate)->form);
}

void plan(Plan& plan, const inlay_experts_op& op) {
  const Kernels& kernels = plan.kernels();
  const Matrix gate(kernels, *op.gate), up(kernels, op.up ? *op.up : *op.gate), down(kernels, *op.down);
  ExpertTask task = {.op = &op,
                     .kernels = &kernels.linear,
                     .gate = gate,
                     .up = up,
                     .down = down,
                     .tokens = static_cast<int>(op.choice->shape[0]),
                     .chosen = static_cast<int>(op.choice->shape[1]),
                     .experts = static_cast<int>(op.gate->shape[0]),
                     .width = down.rows,
                     .hidden = gate.rows,
                     .scales = {1, 1, 1},
                     .chunks_of_hidden = (gate.rows + chunk_columns - 1) / chunk_columns,
                     .hidden_rows = nullptr,
                     .shared_groups = nullptr,
                     .shared_rows = nullptr};
  if (op.scale) std::copy_n(op.scale, 3, task.scales);
  const int slots = task.pairs() + task.active_at_most() * (task.kernels->tile.tokens - 1);
  task.hidden_rows = plan.shared<std::byte>(slots * row_stride(down));
  const bool shared = task.pairs() > few_pairs;
  if (shared) {
    task.shared_groups = plan.shared<std::int32_t>(task.group_bytes() / sizeof(std::int32_t));
    task.shared_rows = plan.shared<std::byte>(task.input_rows() * row_stride(gate));
  }
  const auto* kept = plan.task(task);
  const std::size_t scratch = Scratch::bytes(task);
  if (shared) plan.phase(prepare, kept, std::min(task.input_rows(), plan.workers() * 4), scratch);
  plan.phase(multiply_in, kept, task.active_at_most() * task.chunks_of_hidden, scratch);
  plan.phase(multiply_out, kept, down.groups(), scratch);
}

}  // namespace inlay::cpu
