// Mixtures of experts: tokens are grouped by expert, so that each expert's weights are read once a step.
#include <algorithm>

#include "cpu/expert_groups.hpp"
#include "cpu/plan.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

constexpr int chunk_columns = 2 * block_columns, groups_of_a_chunk = chunk_columns / packed_rows;  // of hidden ones
constexpr int few_pairs = 16;  // so few (token, choice) pairs are grouped and prepared by every worker for itself

Matrix of_expert(Matrix weight, const inlay_tensor& stack, int expert) noexcept {
  weight.data += expert * stack.stride[0];
  return weight;
}

// n columns of a row in a form; whole blocks where it is rounded.
void put_row(const ExpertTask& task, RowForm form, const float* row, int n, std::byte* to) noexcept {
  switch (form) {
    case RowForm::floats: std::copy_n(row, n, reinterpret_cast<float*>(to)); break;
    case RowForm::bfloats: task.kernels->bfloats(row, n, reinterpret_cast<std::uint16_t*>(to)); break;
    case RowForm::rounded: task.kernels->quantize(row, n / block_columns, reinterpret_cast<Activation*>(to)); break;
  }
}

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

// A worker's scratch, cut into its parts.
struct Scratch {
  float *sums[2], *gated, *weighted, *parts;
  std::byte *panels[2][groups_of_a_chunk], *gathered, *own_rows;
  std::int32_t* own_groups;
  std::byte* end;

  Scratch(const ExpertTask& task, std::byte* memory) noexcept {
    const auto take = [&](std::size_t bytes) {
      std::byte* part = memory;
      memory += (bytes + alignment - 1) / alignment * alignment;
      return part;
    };
    const auto floats = [&](std::size_t n) { return reinterpret_cast<float*>(take(n * sizeof(float))); };
    for (float*& sum : sums) sum = floats(token_block * packed_rows);
    gated = floats(token_block * chunk_columns);
    weighted = floats(task.width);
    parts = floats(task.pairs() * packed_rows);
    for (auto& side : panels) {
      for (std::byte*& panel : side)
        panel = take(std::max({task.gate.panel_bytes(), task.up.panel_bytes(), task.down.panel_bytes()}));
    }
    gathered = take(token_block * row_stride(task.gate));
    const bool own = !task.shared_groups;
    own_rows = take(own ? task.input_rows() * row_stride(task.gate) : 0);
    own_groups = reinterpret_cast<std::int32_t*>(take(own ? task.group_bytes() : 0));
    end = memory;
  }
  static std::size_t bytes(const ExpertTask& task) noexcept {
    return reinterpret_cast<std::uintptr_t>(Scratch(task, nullptr).end);
  }
};

void prepare(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const ExpertTask*>(chunk.task);
  if (chunk.index == 0) group_pairs(task, task.shared_groups);
  const Share share(task.input_rows(), chunk);
  prepare_rows(task, share.begin, share.end, Scratch(task, chunk.scratch).weighted, task.shared_rows);
}

// 16 rows by n rows of x: through the group's panel, or without one where they are few.
void multiply(const Matrix& weight, int group, const std::byte* panel, const PairRows& x, int first, int n, float* sums,
              std::byte* memory) noexcept {
  if (!panel) return weight.multiply_few(group, x.from(first), x.stride, n, sums, memory);
  weight.kernels->many(&panel, 1, weight.blocks, x.from(first), x.stride, n, &sums);
}
const std::byte* panel_of(const Matrix& weight, bool few, int group, std::byte* memory) noexcept {
  return few ? nullptr : weight.panel(group, memory);
}

void weigh(float* sums, int n, int rows, float scale, const float* bias) noexcept {
  for (int i = 0; i < n; ++i, sums += packed_rows) {
    for (int r = 0; r < rows; ++r) sums[r] = sums[r] * scale + (bias ? bias[r] : 0.0f);
  }
}

float factor_of(const inlay_tensor* factors, int expert) noexcept {
  return factors ? static_cast<const float*>(factors->data)[expert] : 1.0f;
}

const float* bias_of(const inlay_tensor* biases, int expert, int row) noexcept {
  return biases ? Rows(*biases)[expert] + row : nullptr;
}

// One chunk of hidden columns of one expert: act(gate) * up for its pairs, and at once as `down` reads it.
struct GatedBlock {
  const ExpertTask& task;
  const Scratch& scratch;
  const Grouping& groups;
  int place, column, expert, begin, end, columns;
  bool few;
  PairRows hidden;
  const std::byte* panels[2][groups_of_a_chunk] = {};

  GatedBlock(const ExpertTask& t, const Scratch& s, const Grouping& g, int p, int c) noexcept
      : task(t),
        scratch(s),
        groups(g),
        place(p),
        column(c),
        expert(g.experts[p]),
        begin(g.starts[p]),
        end(g.starts[p + 1]),
        columns(std::min(chunk_columns, t.hidden - c)),
        few(t.few(end - begin)),
        hidden(hidden_rows(t, g, p)) {
    for (int side = 0; side <= (task.op->up != nullptr); ++side) {
      const Matrix weight = this->weight(side);
      for (int i = 0; i * packed_rows < columns; ++i) {
        panels[side][i] = panel_of(weight, few, column / packed_rows + i, scratch.panels[side][i]);
      }
    }
  }

  static PairRows hidden_rows(const ExpertTask& task, const Grouping& groups, int place) noexcept {
    const int begin = groups.starts[place], n = groups.starts[place + 1] - begin;
    const int slot = begin + place * (task.kernels->tile.tokens - 1);  // whole tiles for every expert before
    return {task, task.down, task.few(n), task.hidden_rows + slot * row_stride(task.down)};
  }
  Matrix weight(int side) const noexcept {
    return side == 0 ? of_expert(task.gate, *task.op->gate, expert) : of_expert(task.up, *task.op->up, expert);
  }

  // What the first product reads for pairs [first, first + n) of this expert.
  PairRows gather(const std::byte* inputs, int first, int n) const noexcept {
    const std::size_t stride = row_stride(task.gate);
    const auto input = [&](int i) {
      const int pair = groups.pairs[begin + first + i];
      return inputs + (task.op->weight_first ? pair : pair / task.chosen) * stride;
    };
    if (n == 1 && few) return {task, task.gate, few, const_cast<std::byte*>(input(0))};
    const PairRows rows(task, task.gate, few, scratch.gathered);
    for (int i = 0; i < n; ++i) {
      if (task.gate.kernels->form == RowForm::rounded) {
        rows.put(reinterpret_cast<const Activation*>(input(i)), 0, task.gate.blocks, i);
      } else {
        std::copy_n(input(i), stride, rows.from(i));
      }
    }
    return rows;
  }

  void compute(const PairRows& x, int first, int n) const noexcept {
    const inlay_experts_op& op = *task.op;
    const inlay_tensor *biases[] = {op.gate_bias, op.up_bias}, *factors[] = {op.gate_factor, op.up_factor};
    for (int i = 0; i * packed_rows < columns; ++i) {
      const int row = column + i * packed_rows, rows = std::min(packed_rows, task.hidden - row);
      if (op.up && !few && task.gate.kernels == task.up.kernels) {
        const std::byte* both[] = {panels[0][i], panels[1][i]};
        task.gate.kernels->many(both, 2, task.gate.blocks, x.first, x.stride, n, scratch.sums);
      } else {
        for (int side = 0; side <= (op.up != nullptr); ++side) {
          multiply(weight(side), row / packed_rows, panels[side][i], x, 0, n, scratch.sums[side],
                   scratch.panels[side][i]);
        }
      }
      for (int side = 0; side <= (op.up != nullptr); ++side) {
        weigh(scratch.sums[side], n, rows, task.scales[side] * factor_of(factors[side], expert),
              bias_of(biases[side], expert, row));
      }
      const float* up = op.up ? scratch.sums[1] : nullptr;
      task.kernels->glu_row(op.act, op.alpha, op.limit, scratch.sums[0], scratch.sums[0], up, n * packed_rows);
      for (int t = 0; t < n; ++t) {
        std::copy_n(scratch.sums[0] + t * packed_rows, rows, scratch.gated + t * chunk_columns + i * packed_rows);
      }
    }
    for (int t = 0; t < n; ++t) keep(first + t, scratch.gated + t * chunk_columns);
  }

  void keep(int i, const float* values) const noexcept {
    const RowForm form = task.down.kernels->form;
    if (form != RowForm::rounded) {
      const std::size_t bytes = form == RowForm::floats ? sizeof(float) : sizeof(std::uint16_t);
      return put_row(task, form, values, columns, hidden.from(i) + column * bytes);
    }
    Activation blocks[chunk_columns / block_columns];
    task.kernels->quantize(values, columns / block_columns, blocks);
    hidden.put(blocks, column / block_columns, columns / block_columns, i);
  }
};

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
