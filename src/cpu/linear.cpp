// Linear layers: which rows of which weight a chunk computes, and what happens to x before and to the sums after.
#include <algorithm>
#include <cstring>

#include "cpu/linear_task.hpp"
#include "cpu/plan.hpp"

namespace inlay::cpu {
namespace {

constexpr int few_rows = 4;  // so few rows of x are prepared by every worker for itself, without a phase of their own
// When few tokens pass: of weights, which are read as one stream. The way from chunk to chunk holds that stream up for
// half a microsecond.
constexpr std::size_t chunk_bytes = std::size_t{512} << 10;
constexpr int chunks_per_worker = 4;
constexpr int most_groups = 32, most_panels = 16;  // of a chunk

// Rows [begin, end) of x: normed where asked, and in the forms that the weights read. `memory`: a row in either form.
void prepare_rows(const LinearTask& task, std::int64_t begin, std::int64_t end, std::byte* memory,
                  const Forms& to) noexcept {
  const inlay_norm_op* norm = task.op->norm;
  const OptionalRows gain(norm ? norm->gain : nullptr), bias(norm ? norm->bias : nullptr);
  const Rows x(*task.x);
  const int blocks = task.columns / block_columns, lanes = task.tile.tokens;
  auto* one = reinterpret_cast<Activation*>(memory + row_stride(RowForm::floats, task.columns));
  const auto place = [&](RowForm form, std::int64_t row) { return to.in(form) + row * stride_of(task, form); };
  for (std::int64_t t = begin; t < end; ++t) {
    const float* row = x[t];
    const bool keeps_floats = task.needs_form(RowForm::floats);
    auto* floats = reinterpret_cast<float*>(keeps_floats ? place(RowForm::floats, t) : memory);
    if (norm) {
      task.kernels->norm_row(*norm, floats, row, gain[t], bias[t], task.columns);
      row = floats;
    } else if (keeps_floats) {
      std::copy_n(row, task.columns, floats);
    }
    if (task.needs_form(RowForm::bfloats)) {
      task.kernels->bfloats(row, task.columns, reinterpret_cast<std::uint16_t*>(place(RowForm::bfloats, t)));
    }
    if (!task.needs_form(RowForm::rounded)) continue;
    std::byte* tile = place(RowForm::rounded, t / lanes);
    if (lanes == 1) {
      task.kernels->quantize(row, blocks, reinterpret_cast<Activation*>(tile));
    } else {
      if (t % lanes == 0 && task.tokens - t < lanes) std::memset(tile, 0, stride_of(task, RowForm::rounded));
      task.kernels->quantize(row, blocks, one);
      task.tile.put(one, blocks, static_cast<int>(t % lanes), tile);
    }
  }
}

void prepare(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const LinearTask*>(chunk.task);
  const Share share(tiles(task), chunk);
  const std::int64_t end = std::min<std::int64_t>(share.end * task.tile.tokens, task.tokens);
  prepare_rows(task, share.begin * task.tile.tokens, end, chunk.scratch, task.shared);
}

// Sums of a group for n tokens, times the output's scale and plus its bias.
void weigh(const Output& output, int column, int rows, int n, float* sums) noexcept {
  if (output.scale == 1.0f && !output.bias) return;
  for (int t = 0; t < n; ++t, sums += packed_rows) {
    for (int r = 0; r < rows; ++r) sums[r] = sums[r] * output.scale + (output.bias ? output.bias[column + r] : 0.0f);
  }
}

// What finish() will read and write comes into the cache meanwhile.
void fetch(const LinearTask& task, const Output& output, int group, int first, int n) noexcept {
  const int column = group * packed_rows;
  for (int t = 0; t < n; ++t) __builtin_prefetch(output.y[first + t] + column, 1);
  if (!task.op->add) return;
  const Rows add(*task.op->add);
  for (int t = 0; t < n; ++t) __builtin_prefetch(add[first + t] + column);
}

// The sums of a group for tokens [first, first + n), on their way to y.
void finish(const LinearTask& task, const Output* outputs, int group, int first, int n, float* const* sums) noexcept {
  const int column = group * packed_rows, rows = std::min(packed_rows, outputs->weight.rows - column);
  for (int i = 0; i <= task.glu; ++i) weigh(outputs[i], column, rows, n, sums[i]);
  if (task.glu) {  // of all tokens at once: a call for each would wait for its own result
    const inlay_glu_op& glu = *task.op->glu;
    task.kernels->glu_row(glu.act, glu.alpha, glu.limit, sums[0], sums[0], sums[1], n * packed_rows);
  }
  if (task.op->add) {
    const Rows add(*task.op->add);
    for (int t = 0; t < n; ++t) {
      const float* more = add[first + t] + column;
      for (int r = 0; r < rows; ++r) sums[0][t * packed_rows + r] += more[r];
    }
  }
  for (int t = 0; t < n; ++t) {
    const float* sum = sums[0] + t * packed_rows;
    float* y = outputs->y[first + t] + column;
    if (rows == packed_rows) {
      std::memcpy(y, sum, packed_rows * sizeof *sum);
    } else {
      std::copy_n(sum, rows, y);
    }
  }
}

// Groups [begin, end), straight from the packed weights: all of one weight before the other, for memory is fastest
// where it is read in order.
void multiply_few(const LinearTask& task, const Output* outputs, int begin, int end, const Scratch& scratch) noexcept {
  const int group_sums = task.tokens * packed_rows;
  for (int i = 0; i <= task.glu; ++i) {
    const Matrix& weight = outputs[i].weight;
    const Input x = input_of(task, scratch, weight);
    for (int group = begin; group < end; ++group) {
      float* sums = scratch.sums[i] + (group - begin) * group_sums;
      if (i == task.glu) fetch(task, *outputs, group, 0, task.tokens);
      weight.multiply_few(group, x.first, x.stride, task.tokens, sums, scratch.panels);
    }
  }
  for (int group = begin; group < end; ++group) {
    float* const sums[] = {scratch.sums[0] + (group - begin) * group_sums,
                           scratch.sums[1] + (group - begin) * group_sums};
    finish(task, outputs, group, 0, task.tokens, sums);
  }
}

// Groups [begin, end): unpacked once, then every token passes by.
void multiply_many(const LinearTask& task, const Output* outputs, int begin, int end, const Scratch& scratch) noexcept {
  const std::byte* panels[most_panels][2];
  std::byte* memory = scratch.panels;
  for (int group = begin; group < end; ++group) {
    for (int i = 0; i <= task.glu; ++i, memory += task.panel_bytes) {
      panels[group - begin][i] = outputs[i].weight.panel(group, memory);
    }
  }
  for (int first = 0; first < task.tokens; first += token_block) {
    const int n = std::min(token_block, task.tokens - first);
    for (int group = begin; group < end;) {
      const Matrix &weight = outputs[0].weight, &other = outputs[task.glu].weight;
      const Input x = input_of(task, scratch, weight);
      const int groups = task.glu ? 1 : std::min(2, end - group);
      for (int i = 0; i < groups; ++i) fetch(task, *outputs, group + i, first, n);
      const std::byte* two[] = {panels[group - begin][0], panels[group - begin + groups - 1][task.glu]};
      if (weight.kernels == other.kernels) {
        weight.kernels->many(two, groups + task.glu, weight.blocks, x.from(first), x.stride, n, scratch.sums);
      } else {
        const Input y = input_of(task, scratch, other);
        weight.kernels->many(two, 1, weight.blocks, x.from(first), x.stride, n, scratch.sums);
        other.kernels->many(two + 1, 1, other.blocks, y.from(first), y.stride, n, scratch.sums + 1);
      }
      for (int i = 0; i < groups; ++i, ++group) finish(task, outputs, group, first, n, scratch.sums + i);
    }
  }
}

void multiply(const Chunk& chunk) noexcept {
  const auto& task = *static_cast<const LinearTask*>(chunk.task);
  const Scratch scratch(task, chunk.scratch);
  if (chunk.first && !task.prepared) {
    prepare_rows(task, 0, task.tokens, scratch.row, scratch.own);
  }
  const Output* output = task.outputs;
  while (output + 1 < task.outputs + task.output_count && output[1].first_chunk <= chunk.index) ++output;
  const int begin = (chunk.index - output->first_chunk) * output->chunk_groups;
  const int end = std::min(begin + output->chunk_groups, output->weight.groups());
  if (task.tokens > task.kernels->few_tokens) return multiply_many(task, output, begin, end, scratch);
  multiply_few(task, output, begin, end, scratch);
}

// How many groups a chunk takes: enough to be worth claiming, few enough to share out well.
int groups_of_a_chunk(const Plan& plan, const Matrix& weight, bool few, int panels) noexcept {
  const std::size_t fit = few ? chunk_bytes / weight.group_bytes : panel_budget / (weight.panel_bytes() * panels);
  const int fair = weight.groups() / (plan.workers() * chunks_per_worker);
  const int least = few || panels > 1 ? 1 : 2;  // many() likes two
  return std::clamp(std::min(static_cast<int>(fit), fair), least, few ? most_groups : most_panels);
}

}  // namespace

bool can(const Kernels& kernels, const inlay_linear_op& op) noexcept {
  for (int i = 0; i < op.n; ++i) {
    if (!op.w[i] || op.w[i]->rank != 2 || !find_weight(kernels, *op.w[i])) return false;
  }
  return op.n > 0 && (!op.glu || op.n == 2) && (!op.add || (op.n == 1));
}

void plan(Plan& plan, const inlay_linear_op& op) {
  const inlay_tensor* x = op.norm ? op.norm->x : op.x;
  LinearTask task = {&op, &plan.kernels().linear, x, static_cast<int>(x->shape[0]),
                     static_cast<int>(op.w[0]->shape[1])};
  task.glu = op.glu;
  task.output_count = op.glu ? 1 : op.n;
  const bool few = task.tokens <= task.kernels->few_tokens;
  auto* outputs = plan.kept<Output>(op.n);
  int chunks = 0, panels = 0;
  for (int i = 0; i < op.n; ++i) {
    const Matrix weight(plan.kernels(), *op.w[i]);
    const float* bias = op.bias && op.bias[i] ? static_cast<const float*>(op.bias[i]->data) : nullptr;
    const int chunk_groups = groups_of_a_chunk(plan, weight, few, op.glu ? 2 : 1);
    new (outputs + i)
        Output{weight, Rows(*op.y[op.glu ? 0 : i]), bias, op.scale ? op.scale[i] : 1.0f, chunks, chunk_groups};
    task.needs_form(weight.kernels->form) = true;
    if (i < task.output_count) chunks += (weight.groups() + chunk_groups - 1) / chunk_groups;
    task.panel_bytes = std::max(task.panel_bytes, few ? weight.few_bytes() : weight.panel_bytes());
    panels = std::max(panels, few ? 1 : chunk_groups * (op.glu ? 2 : 1));
    if (few) task.sums = std::max<std::size_t>(task.sums, chunk_groups * task.tokens);
  }
  task.panels = panels * task.panel_bytes;
  if (!op.norm && few) task.needs_form(RowForm::floats) = false;  // x itself is what they read
  task.outputs = outputs;
  if (!few) task.tile = task.kernels->tile;
  const bool makes_any = std::count(std::begin(task.needs), std::end(task.needs), true) > 0;
  task.prepared = (task.tokens > few_rows || task.tile.tokens > 1) && makes_any;
  if (task.prepared) {
    for (const RowForm form : all_forms) task.shared.in(form) = plan.shared<std::byte>(form_bytes(task, form));
    const auto* kept = plan.task(task);
    plan.phase(prepare, kept, std::min(tiles(task), plan.workers() * chunks_per_worker), row_bytes(task));
    plan.phase(multiply, kept, chunks, Scratch::bytes(task));
  } else {
    plan.phase(multiply, plan.task(task), chunks, Scratch::bytes(task));
  }
}

}  // namespace inlay::cpu
