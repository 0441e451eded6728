// The reference's matrix products: rows of tables, linear with all it joins, and mixtures of experts.
#include <algorithm>
#include <cmath>

#include "cpu/reference_tensor.hpp"

namespace inlay::cpu::reference {
namespace {

// What quantized weights are multiplied with: x rounded to 8-bit codes times their block's scale, a product that double
// holds exactly, so that the sum of a block is that of the integers times the two scales.
void round_blocks(const Matrix& x, Matrix& rounded) {
  for (std::int64_t t = 0; t < x.rows(); ++t) {
    for (std::int64_t first = 0; first < x.cols(); first += 32) {
      const auto block = x.row(t).segment(first, std::min<std::int64_t>(32, x.cols() - first));
      const float largest = static_cast<float>(block.cwiseAbs().maxCoeff());
      const float inverse = 127.0f / largest;
      if (largest == 0 || !std::isfinite(inverse)) continue;  // zero, or too small for a code to exist
      const double scale = largest / 127.0f;
      for (std::int64_t i = 0; i < block.size(); ++i) {
        rounded(t, first + i) = scale * std::nearbyint(static_cast<float>(block[i]) * inverse);
      }
    }
  }
}

void read_activations(const inlay_tensor& x, Matrix& values) {
  for (std::int64_t t = 0; t < values.rows(); ++t) {
    values.row(t) = Eigen::Map<const Eigen::RowVectorXf>(row_of(x, t), values.cols()).cast<double>();
  }
}

// The joined norm writes nothing but what the product reads.
void read_normed(const inlay_norm_op& norm, Matrix& values, HostVector<float>& row) {
  for (std::int64_t t = 0; t < values.rows(); ++t) {
    norm_row(norm, t, row_of(*norm.x, t), row.data());
    values.row(t) = Eigen::Map<const Eigen::RowVectorXf>(row.data(), values.cols()).cast<double>();
  }
}

// One matrix of a stack of them.
inlay_tensor matrix_of(const inlay_tensor& stack, std::int64_t index) {
  inlay_tensor matrix = stack;
  matrix.data = static_cast<char*>(stack.data) + index * stack.stride[0];
  matrix.rank = stack.rank - 1;
  std::copy(stack.shape + 1, stack.shape + 4, matrix.shape);
  std::copy(stack.stride + 1, stack.stride + 4, matrix.stride);
  return matrix;
}

}  // namespace

void run(const Step& step, const inlay_embed_op& op) {
  for (std::int64_t t = 0; t < rows(*op.y); ++t) {
    Matrix values(step.host, 1, columns(*op.y));
    const std::int32_t* by[] = {step.batch.ids, step.batch.positions, step.batch.types};
    read(step.host, *op.table, by[op.by] ? by[op.by][t] : 0, values);
    std::copy_n(values.data(), values.cols(), row_of(*op.y, t));
  }
}

void multiply(const Step& step, const Matrix& x, const Product& product, Matrix& y) {
  const bool exact = is_float(product.w->type);
  Matrix rounded(step.host, exact ? 0 : x.rows(), exact ? 0 : x.cols());
  if (!exact) round_blocks(x, rounded);
  const Eigen::Map<Rows>& factor = exact ? static_cast<const Eigen::Map<Rows>&>(x) : rounded;
  constexpr std::int64_t panel_rows = 64;  // few enough to stay in the cache while all tokens pass over them
  for (std::int64_t first = 0; first < y.cols(); first += panel_rows) {
    Matrix panel(step.host, std::min(panel_rows, y.cols() - first), x.cols());
    read(step.host, *product.w, first, panel);
    // One token at a time: the order of the sum must not depend on how many there are.
    for (std::int64_t t = 0; t < x.rows(); ++t) {
      y.row(t).segment(first, panel.rows()).transpose().noalias() = panel * factor.row(t).transpose();
    }
  }
  // From here on as separate operations would do it, each rounded to float.
  for (std::int64_t n = 0; n < y.cols(); ++n) {
    for (std::int64_t t = 0; t < y.rows(); ++t) {
      float value = static_cast<float>(y(t, n)) * product.scale;
      if (product.bias) value += value_at(*product.bias, n);
      y(t, n) = value;
    }
  }
}

namespace {

Product product_of(const inlay_linear_op& op, int i) {
  return {op.w[i], op.bias ? op.bias[i] : nullptr, op.scale ? op.scale[i] : 1.0f};
}

void write_gated(const Step& step, const inlay_linear_op& op, const Matrix& x) {
  Matrix gate(step.host, x.rows(), op.w[0]->shape[0]), up(step.host, x.rows(), op.w[1]->shape[0]);
  multiply(step, x, product_of(op, 0), gate);
  multiply(step, x, product_of(op, 1), up);
  for (std::int64_t t = 0; t < x.rows(); ++t) {
    for (std::int64_t n = 0; n < gate.cols(); ++n) {
      row_of(*op.y[0], t)[n] = activate(op.glu->act, static_cast<float>(gate(t, n)), static_cast<float>(up(t, n)),
                                        op.glu->alpha, op.glu->limit);
    }
  }
}

}  // namespace

void run(const Step& step, const inlay_linear_op& op) {
  const inlay_tensor& input = op.norm ? *op.norm->x : *op.x;
  Matrix x(step.host, rows(input), columns(input));
  if (op.norm) {
    HostVector<float> row(static_cast<std::size_t>(x.cols()), HostAllocator<float>(step.host));
    read_normed(*op.norm, x, row);
  } else {
    read_activations(input, x);
  }
  if (op.glu) return write_gated(step, op, x);
  for (int i = 0; i < op.n; ++i) {
    Matrix y(step.host, x.rows(), op.w[i]->shape[0]);
    multiply(step, x, product_of(op, i), y);
    for (std::int64_t t = 0; t < y.rows(); ++t) {
      for (std::int64_t n = 0; n < y.cols(); ++n) {
        const auto value = static_cast<float>(y(t, n));
        row_of(*op.y[i], t)[n] = op.add ? row_of(*op.add, t)[n] + value : value;
      }
    }
  }
}

namespace {

// The pairs (token, place among its choices) that chose one expert.
using Pairs = HostVector<std::int64_t>;

void gather(const inlay_experts_op& op, int expert, Pairs& pairs) {
  pairs.clear();
  const std::int64_t chosen = columns(*op.choice);
  const std::int32_t run = op.run > 0 ? op.run : 1;
  for (std::int64_t i = 0; i < rows(*op.choice) * chosen; ++i) {
    const auto* choice = static_cast<const std::int32_t*>(row_address(*op.choice, i / chosen));
    if (choice[i % chosen] / run == expert) pairs.push_back(i);
  }
}

// One of an expert's three products.
void expert_product(const Step& step, const inlay_experts_op& op, int which, int expert, const Matrix& x, Matrix& y) {
  const inlay_tensor* weights[] = {op.gate, op.up, op.down};
  const inlay_tensor *biases[] = {op.gate_bias, op.up_bias, op.down_bias},
                     *factors[] = {op.gate_factor, op.up_factor, {}};
  const inlay_tensor matrix = matrix_of(*weights[which], expert);
  const inlay_tensor bias = biases[which] ? matrix_of(*biases[which], expert) : inlay_tensor{};
  const float factor = factors[which] ? value_at(*factors[which], expert) : 1.0f;
  multiply(step, x, {&matrix, biases[which] ? &bias : nullptr, factor * (op.scale ? op.scale[which] : 1.0f)}, y);
}

// Row i of y: what the expert makes of the token of pair i.
void run_expert(const Step& step, const inlay_experts_op& op, int expert, const Pairs& pairs, Matrix& y) {
  const auto count = static_cast<std::int64_t>(pairs.size());
  const std::int64_t chosen = columns(*op.choice), hidden = op.gate->shape[1];
  Matrix x(step.host, count, columns(*op.x));
  for (std::int64_t i = 0; i < count; ++i) {
    const float weight = op.weight_first ? value_at(*op.weight, pairs[i]) : 1.0f;
    for (std::int64_t d = 0; d < x.cols(); ++d) x(i, d) = row_of(*op.x, pairs[i] / chosen)[d] * weight;
  }
  Matrix gate(step.host, count, hidden), up(step.host, count, hidden);
  expert_product(step, op, 0, expert, x, gate);
  if (op.up) {
    expert_product(step, op, 1, expert, x, up);
  } else {
    up.setOnes();
  }
  for (std::int64_t i = 0; i < gate.size(); ++i) {
    gate.data()[i] =
        activate(op.act, static_cast<float>(gate.data()[i]), static_cast<float>(up.data()[i]), op.alpha, op.limit);
  }
  expert_product(step, op, 2, expert, gate, y);
}

}  // namespace

void run(const Step& step, const inlay_experts_op& op) {
  const std::int64_t chosen = columns(*op.choice), width = columns(*op.y);
  Matrix parts(step.host, rows(*op.choice) * chosen, width);
  Pairs pairs{HostAllocator<std::int64_t>(step.host)};
  for (int expert = 0; expert < op.gate->shape[0]; ++expert) {
    gather(op, expert, pairs);
    if (pairs.empty()) continue;
    Matrix y(step.host, static_cast<std::int64_t>(pairs.size()), width);
    run_expert(step, op, expert, pairs, y);
    for (std::size_t i = 0; i < pairs.size(); ++i) parts.row(pairs[i]) = y.row(static_cast<std::int64_t>(i));
  }
  for (std::int64_t t = 0; t < rows(*op.y); ++t) {
    float* out = row_of(*op.y, t);
    for (std::int64_t d = 0; d < width; ++d) {
      double sum = 0;
      for (std::int64_t c = 0; c < chosen; ++c) {
        sum += (op.weight_first ? 1.0 : value_at(*op.weight, t * chosen + c)) * parts(t * chosen + c, d);
      }
      out[d] = static_cast<float>(op.accumulate ? out[d] + sum : sum);
    }
  }
}

}  // namespace inlay::cpu::reference
