// A worker's part of one expert's first product: act(gate) * up for a chunk of hidden columns.
#pragma once

#include <algorithm>

#include "cpu/expert_groups.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

constexpr int chunk_columns = 2 * block_columns, groups_of_a_chunk = chunk_columns / packed_rows;  // of hidden ones

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

inline Matrix of_expert(Matrix weight, const inlay_tensor& stack, int expert) noexcept {
  weight.data += expert * stack.stride[0];
  return weight;
}

// n columns of a row in a form; whole blocks where it is rounded.
inline void put_row(const ExpertTask& task, RowForm form, const float* row, int n, std::byte* to) noexcept {
  switch (form) {
    case RowForm::floats: std::copy_n(row, n, reinterpret_cast<float*>(to)); break;
    case RowForm::bfloats: task.kernels->bfloats(row, n, reinterpret_cast<std::uint16_t*>(to)); break;
    case RowForm::rounded: task.kernels->quantize(row, n / block_columns, reinterpret_cast<Activation*>(to)); break;
  }
}

// 16 rows by n rows of x: through the group's panel, or without one where they are few.
inline void multiply(const Matrix& weight, int group, const std::byte* panel, const PairRows& x, int first, int n,
                     float* sums, std::byte* memory) noexcept {
  if (!panel) return weight.multiply_few(group, x.from(first), x.stride, n, sums, memory);
  weight.kernels->many(&panel, 1, weight.blocks, x.from(first), x.stride, n, &sums);
}
inline const std::byte* panel_of(const Matrix& weight, bool few, int group, std::byte* memory) noexcept {
  return few ? nullptr : weight.panel(group, memory);
}

inline void weigh(float* sums, int n, int rows, float scale, const float* bias) noexcept {
  for (int i = 0; i < n; ++i, sums += packed_rows) {
    for (int r = 0; r < rows; ++r) sums[r] = sums[r] * scale + (bias ? bias[r] : 0.0f);
  }
}

inline float factor_of(const inlay_tensor* factors, int expert) noexcept {
  return factors ? static_cast<const float*>(factors->data)[expert] : 1.0f;
}

inline const float* bias_of(const inlay_tensor* biases, int expert, int row) noexcept {
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

}  // namespace
}  // namespace inlay::cpu
