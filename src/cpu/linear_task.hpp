// A linear layer at work: its weights, the forms in which they read x, and a worker's scratch.
#pragma once

#include <algorithm>

#include "cpu/matrix.hpp"
#include "cpu/memory.hpp"
#include "cpu/view.hpp"

namespace inlay::cpu {
namespace {

struct Output {
  Matrix weight;
  Rows y;
  const float* bias;
  float scale;
  int first_chunk, chunk_groups;
};

constexpr RowForm all_forms[] = {RowForm::floats, RowForm::bfloats, RowForm::rounded};

// Where the rows of x lie in each form.
struct Forms {
  std::byte* of[form_count];

  std::byte*& in(RowForm form) noexcept { return of[static_cast<int>(form)]; }
  std::byte* in(RowForm form) const noexcept { return of[static_cast<int>(form)]; }
};

struct LinearTask {
  const inlay_linear_op* op;
  const LinearKernels* kernels;
  const inlay_tensor* x;
  int tokens, columns;
  const Output* outputs = nullptr;
  int output_count = 0;
  bool glu = false;
  bool needs[form_count] = {};                       // forms of x that are made of it
  bool prepared = false;                             // x in those forms lies in shared memory
  TileForm tile = {1, sizeof(Activation), nullptr};  // of rounded x
  Forms shared = {};
  std::size_t panel_bytes = 0, panels = 0;  // for one group of any weight, and for all of a chunk
  std::size_t sums = token_block;           // of 16 rows each, that wait for their way to y

  bool& needs_form(RowForm form) noexcept { return needs[static_cast<int>(form)]; }
  bool needs_form(RowForm form) const noexcept { return needs[static_cast<int>(form)]; }
};

inline int tokens_of_a_tile(const LinearTask& task, RowForm form) noexcept {
  return form == RowForm::rounded ? task.tile.tokens : 1;
}
// From one tile or row to the next.
inline std::size_t stride_of(const LinearTask& task, RowForm form) noexcept {
  if (form != RowForm::rounded) return row_stride(form, task.columns);
  return task.columns / block_columns * task.tile.block_bytes + alignment;
}
inline int tiles(const LinearTask& task) noexcept { return (task.tokens + task.tile.tokens - 1) / task.tile.tokens; }

// All rows in one form; none where it is not made.
inline std::size_t form_bytes(const LinearTask& task, RowForm form) noexcept {
  const int count = form == RowForm::rounded ? tiles(task) : task.tokens;
  return task.needs_form(form) ? count * stride_of(task, form) : 0;
}

// Of one row, normed and rounded.
inline std::size_t row_bytes(const LinearTask& task) noexcept {
  return row_stride(RowForm::floats, task.columns) + task.columns / block_columns * sizeof(Activation);
}

// A worker's scratch, cut into its parts.
struct Scratch {
  float* sums[2];
  std::byte* row;  // as floats and rounded
  std::byte* panels;
  Forms own;
  std::byte* end;

  Scratch(const LinearTask& task, std::byte* memory) noexcept {
    const auto take = [&](std::size_t bytes) {
      std::byte* part = memory;
      memory += (bytes + alignment - 1) / alignment * alignment;
      return part;
    };
    for (float*& sum : sums) sum = reinterpret_cast<float*>(take(task.sums * packed_rows * sizeof(float)));
    row = take(row_bytes(task));
    panels = take(task.panels);
    for (const RowForm form : all_forms) own.in(form) = take(task.prepared ? 0 : form_bytes(task, form));
    end = memory;
  }
  static std::size_t bytes(const LinearTask& task) noexcept {
    return reinterpret_cast<std::uintptr_t>(Scratch(task, nullptr).end);
  }
};

// Rows or tiles of x as a weight reads them.
struct Input {
  const std::byte* first;
  std::size_t stride;
  int tokens;  // of a tile

  const std::byte* from(int token) const noexcept { return first + token / tokens * stride; }
};

inline Input input_of(const LinearTask& task, const Scratch& scratch, const Matrix& weight) noexcept {
  const RowForm form = weight.kernels->form;
  if (!task.needs_form(form)) {  // floats, as they are
    return {static_cast<const std::byte*>(task.x->data), static_cast<std::size_t>(task.x->stride[0]), 1};
  }
  const Forms& forms = task.prepared ? task.shared : scratch.own;
  return {forms.in(form), stride_of(task, form), tokens_of_a_tile(task, form)};
}

}  // namespace
}  // namespace inlay::cpu
