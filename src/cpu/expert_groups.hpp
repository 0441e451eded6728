// Tokens with the experts they chose: how the pairs are grouped, and where an expert's rows lie.
#pragma once

#include <algorithm>

#include "cpu/matrix.hpp"
#include "cpu/memory.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

// Pairs in the order of their experts. Pair p is choice p % chosen of token p / chosen.
struct Grouping {
  std::int32_t active;    // experts that were chosen at all
  std::int32_t* experts;  // [active] which
  std::int32_t* starts;   // [active + 1] their first places in `pairs`
  std::int32_t* pairs;
  std::int32_t* places;  // [experts] while grouping: where an expert's next pair goes
};

struct ExpertTask {
  const inlay_experts_op* op;
  const LinearKernels* kernels;
  Matrix gate, up, down;  // of expert 0; up is gate where there is none
  int tokens, chosen, experts, width, hidden;
  float scales[3];
  int chunks_of_hidden;         // chunks of the first product for each expert
  std::byte* hidden_rows;       // activations of each expert's pairs, as `down` reads them
  std::int32_t* shared_groups;  // null: every worker for itself
  std::byte* shared_rows;

  int pairs() const noexcept { return tokens * chosen; }
  int input_rows() const noexcept { return op->weight_first ? pairs() : tokens; }
  int active_at_most() const noexcept { return std::min(experts, pairs()); }
  bool few(int n) const noexcept { return n <= kernels->few_tokens; }
  std::size_t group_bytes() const noexcept { return (3 * experts + 2 + pairs()) * sizeof(std::int32_t); }
};

// From one row of what a weight reads to the next.
inline std::size_t row_stride(const Matrix& weight) noexcept {
  return cpu::row_stride(weight.kernels->form, weight.columns);
}

// Rows of an expert's pairs: as they are, or in tiles where many() wants them so. A tile takes no more than its rows.
struct PairRows {
  std::byte* first;
  std::size_t stride;
  TileForm tile;

  PairRows(const ExpertTask& task, const Matrix& weight, bool few, std::byte* memory) noexcept
      : first(memory), stride(row_stride(weight)), tile{1, 0, nullptr} {
    if (few || weight.kernels->form != RowForm::rounded) return;
    tile = task.kernels->tile;
    stride *= tile.tokens;
  }
  std::byte* from(int i) const noexcept { return first + i / tile.tokens * stride; }
  void put(const Activation* row, int block, int blocks, int i) const noexcept {
    if (tile.put) return tile.put(row, blocks, i % tile.tokens, from(i) + block * tile.block_bytes);
    std::copy_n(row, blocks, reinterpret_cast<Activation*>(from(i)) + block);
  }
};

inline Grouping grouping_in(const ExpertTask& task, std::int32_t* memory) noexcept {
  std::int32_t* starts = memory + 1 + task.experts;
  return {memory[0], memory + 1, starts, starts + task.experts + 1 + task.experts, starts + task.experts + 1};
}

// Counts first, so that the time does not grow with the number of experts times that of tokens.
inline void group_pairs(const ExpertTask& task, std::int32_t* memory) noexcept {
  Grouping groups = grouping_in(task, memory);
  const RowsOf<const std::int32_t> choice(*task.op->choice);
  const std::int32_t run = std::max(task.op->run, 1);
  const auto each_pair = [&](auto&& act) {
    for (int t = 0, pair = 0; t < task.tokens; ++t) {
      for (int c = 0; c < task.chosen; ++c, ++pair) act(choice[t][c] / run, pair);
    }
  };
  std::fill_n(groups.places, task.experts, 0);
  each_pair([&](std::int32_t expert, int) { ++groups.places[expert]; });
  groups.active = 0;
  std::int32_t place = 0;
  for (std::int32_t expert = 0; expert < task.experts; ++expert) {
    const std::int32_t count = groups.places[expert];
    groups.places[expert] = place;
    if (count == 0) continue;
    groups.starts[groups.active] = place;
    groups.experts[groups.active++] = expert;
    place += count;
  }
  groups.starts[groups.active] = place;
  each_pair([&](std::int32_t expert, int pair) { groups.pairs[groups.places[expert]++] = pair; });
  memory[0] = groups.active;
}

}  // namespace
}  // namespace inlay::cpu
