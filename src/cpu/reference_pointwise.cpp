// The reference's operations on rows of activations: norms, activations, rotations, picking and routing.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "cpu/reference_tensor.hpp"

namespace inlay::cpu::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

double apply(std::uint32_t act, double x) {
  switch (act) {
    case INLAY_ACT_SILU: return x * sigmoid(x);
    case INLAY_ACT_GELU: return 0.5 * x * (1 + std::erf(x / std::numbers::sqrt2));
    case INLAY_ACT_GELU_TANH:
      return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
    case INLAY_ACT_RELU: return std::max(x, 0.0);
    case INLAY_ACT_RELU2: return std::max(x, 0.0) * std::max(x, 0.0);
    case INLAY_ACT_SIGMOID: return sigmoid(x);
    case INLAY_ACT_TANH: return std::tanh(x);
    case INLAY_ACT_SOFTPLUS: return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x)));
    case INLAY_ACT_GELU_QUICK: return x * sigmoid(1.702 * x);
    default: return x;
  }
}

}  // namespace

float activate(std::uint32_t act, float gate, float up, float alpha, float limit, float beta) noexcept {
  if (act == INLAY_ACT_CLAMP) return std::clamp(gate, -limit, limit);
  if (act == INLAY_ACT_XIELU) {
    const double u = gate, curve = u > 0 ? alpha * u * u : limit * (std::expm1(std::min(u, -1e-6)) - u);
    return static_cast<float>(curve + beta * u);
  }
  if (act == INLAY_ACT_SWIGLU_CLAMPED) {
    const double g = std::min(gate, limit), u = std::clamp(up, -limit, limit);
    return static_cast<float>(g * sigmoid(alpha * g) * (u + 1));
  }
  if (act == INLAY_ACT_SWIGLU_LIMITED)
    return static_cast<float>(std::min<double>(gate * sigmoid(gate), limit) * std::clamp(up, -limit, limit));
  if (act == INLAY_ACT_SWIGLU_BOUNDED) {
    const double g = std::min(gate, limit);
    return static_cast<float>(g * sigmoid(g) * std::clamp(up, -limit, limit));
  }
  return static_cast<float>(apply(act, gate) * up);
}

void norm_row(const inlay_norm_op& op, std::int64_t row, const float* x, float* y) {
  const std::int64_t count = columns(*op.x);
  const auto values = Eigen::Map<const Eigen::RowVectorXf>(x, count).cast<double>();
  const bool centred = op.kind == INLAY_NORM_LAYER || op.kind == INLAY_NORM_SPREAD;
  const double mean = centred ? values.sum() / static_cast<double>(count) : 0;
  const double squares = (values.array() - mean).square().sum();
  const double eps = op.eps;
  const double length =
      op.kind == INLAY_NORM_L2 ? std::max(squares, eps * eps) : squares / static_cast<double>(count) + eps;
  if (op.kind == INLAY_NORM_SIZE || op.kind == INLAY_NORM_SPREAD) {
    *y = static_cast<float>(std::sqrt(length));
    return;
  }
  const double inverse = 1 / std::sqrt(length);
  for (std::int64_t i = 0; i < count; ++i) {
    double value = (x[i] - mean) * inverse;
    if (op.gain) value *= row_of(*op.gain, row % rows(*op.gain))[i];
    if (op.bias) value += row_of(*op.bias, row % rows(*op.bias))[i];
    y[i] = static_cast<float>(value);
  }
}

void run(const Step&, const inlay_norm_op& op) {
  for (std::int64_t row = 0; row < rows(*op.x); ++row) norm_row(op, row, row_of(*op.x, row), row_of(*op.y, row));
}

void run(const Step&, const inlay_binary_op& op) {
  for (std::int64_t row = 0; row < rows(*op.a); ++row) {
    const float* a = row_of(*op.a, row);
    const float* b = op.b ? row_of(*op.b, row % rows(*op.b)) : nullptr;
    float* y = row_of(*op.y, row);
    for (std::int64_t i = 0; i < columns(*op.a); ++i) {
      const float other = b ? b[columns(*op.b) == 1 ? 0 : i] : 1.0f;
      y[i] = b && op.kind == INLAY_BINARY_ADD ? a[i] + op.alpha * other : a[i] * other * op.alpha;
    }
  }
}

void run(const Step&, const inlay_glu_op& op) {
  for (std::int64_t row = 0; row < rows(*op.gate); ++row) {
    const float* gate = row_of(*op.gate, row);
    const float* up = op.up ? row_of(*op.up, row) : nullptr;
    float* y = row_of(*op.y, row);
    for (std::int64_t i = 0; i < columns(*op.gate); ++i)
      y[i] = activate(op.act, gate[i], up ? up[i] : 1.0f, op.alpha, op.limit, op.beta);
  }
}

namespace {

// The position stream whose section holds pair j; without sections the first.
std::int64_t stream_of(const inlay_rope_op& op, int streams, int j) noexcept {
  int stream = 0;
  for (int end = op.sections[0]; end > 0 && j >= end && stream + 1 < std::min(streams, 4); end += op.sections[stream])
    ++stream;
  return stream;
}

}  // namespace

void rotate(const Step& step, const inlay_rope_op& op, std::int64_t token, float* head) noexcept {
  const int pairs = op.dims / 2;
  for (int j = 0; j < pairs; ++j) {
    const double position = step.batch.positions[stream_of(op, step.batch.streams, j) * step.batch.tokens + token];
    const double angle = position * value_at(*op.frequencies, j);
    const double cosine = std::cos(angle) * op.magnitude, sine = std::sin(angle) * op.magnitude;
    float& first = head[op.interleaved ? 2 * j : j];
    float& second = head[op.interleaved ? 2 * j + 1 : j + pairs];
    const double a = first, b = second;
    first = static_cast<float>(a * cosine - b * sine);
    second = static_cast<float>(a * sine + b * cosine);
  }
}

void run(const Step& step, const inlay_rope_op& op) {
  const std::int64_t heads = op.x->rank == 3 ? op.x->shape[1] : 1;
  for (std::int64_t row = 0; row < rows(*op.x); ++row) rotate(step, op, row / heads, row_of(*op.x, row));
}

void run(const Step& step, const inlay_pick_op& op) {
  for (std::int64_t i = 0; i < rows(*op.y); ++i) {
    float* y = row_of(*op.y, i);
    if (op.kind == INLAY_PICK_ROWS) {
      std::copy_n(row_of(*op.x, static_cast<const std::int32_t*>(op.rows->data)[i]), columns(*op.x), y);
      continue;
    }
    const std::int64_t first = step.batch.query_start[i], end = step.batch.query_start[i + 1];
    const std::int64_t from = op.kind == INLAY_PICK_LAST ? end - 1 : first;
    const std::int64_t to = op.kind == INLAY_PICK_FIRST ? first + 1 : end;
    for (std::int64_t d = 0; d < columns(*op.x); ++d) {
      double sum = 0;
      for (std::int64_t t = from; t < to; ++t) sum += row_of(*op.x, t)[d];
      y[d] = static_cast<float>(sum / static_cast<double>(to - from));
    }
  }
}

namespace {

// Takes the experts of all but the best groups out of the choice.
void keep_best_groups(const inlay_route_op& op, HostVector<float>& scores) {
  const auto size = static_cast<std::ptrdiff_t>(scores.size()) / op.groups;
  HostVector<float> group_scores(static_cast<std::size_t>(op.groups), scores.get_allocator());
  for (int g = 0; g < op.groups; ++g) {
    HostVector<float> part(scores.begin() + g * size, scores.begin() + (g + 1) * size, scores.get_allocator());
    const auto used = std::min<std::ptrdiff_t>(op.group_top, size);
    std::partial_sort(part.begin(), part.begin() + used, part.end(), std::greater<>());
    group_scores[static_cast<std::size_t>(g)] = used == 2 ? part[0] + part[1] : part[0];
  }
  for (int g = 0; g < op.groups; ++g) {
    int better = 0;
    for (int other = 0; other < op.groups; ++other) {
      const float mine = group_scores[static_cast<std::size_t>(g)],
                  theirs = group_scores[static_cast<std::size_t>(other)];
      better += theirs > mine || (theirs == mine && other < g);
    }
    if (better < op.groups_used) continue;
    std::fill_n(scores.begin() + g * size, size, -std::numeric_limits<float>::infinity());
  }
}

void softmax(const float* x, std::size_t count, HostVector<float>& y) {
  const double largest = *std::max_element(x, x + count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(x[i] - largest);
  for (std::size_t i = 0; i < count; ++i) y[i] = static_cast<float>(std::exp(x[i] - largest) / sum);
}

// The first one's share in the softmax of those that are near it.
float share_of_near(const HostVector<float>& scores, const HostVector<std::int32_t>& best_first) {
  const float best = scores[static_cast<std::size_t>(best_first[0])];
  double sum = 0;
  for (const std::int32_t e : best_first) {
    const float s = scores[static_cast<std::size_t>(e)];
    if (!((best - s) / std::max(std::abs(s), best) > 0.02f)) sum += std::exp(static_cast<double>(s) - best);
  }
  return static_cast<float>(1 / sum);
}

void route_token(const Step& step, const inlay_route_op& op, std::int64_t token) {
  const auto experts = static_cast<std::size_t>(columns(*op.logits)),
             chosen = static_cast<std::size_t>(columns(*op.choice));
  const float* logits = row_of(*op.logits, token);
  auto* choice = static_cast<std::int32_t*>(row_address(*op.choice, token));
  float* weight = row_of(*op.weight, token);
  HostVector<float> share(logits, logits + experts, HostAllocator<float>(step.host));
  if (op.kind == INLAY_ROUTE_SOFTMAX) softmax(logits, experts, share);
  if (op.kind == INLAY_ROUTE_SIGMOID) {
    std::transform(logits, logits + experts, share.begin(), [](float x) { return static_cast<float>(sigmoid(x)); });
  }
  HostVector<float> scores = share;
  for (std::size_t e = 0; op.bias && e < experts; ++e) scores[e] += value_at(*op.bias, static_cast<std::int64_t>(e));
  if (op.groups > 1) keep_best_groups(op, scores);
  HostVector<std::int32_t> order(experts, HostAllocator<std::int32_t>(step.host));
  for (std::size_t e = 0; e < experts; ++e) order[e] = static_cast<std::int32_t>(e);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    const float first = scores[static_cast<std::size_t>(a)], second = scores[static_cast<std::size_t>(b)];
    return first > second || (first == second && a < b);
  });
  HostVector<float> weights(chosen, HostAllocator<float>(step.host));
  for (std::size_t c = 0; c < chosen; ++c) weights[c] = share[static_cast<std::size_t>(order[c])];
  if (op.kind == INLAY_ROUTE_SOFTMAX_CHOSEN) softmax(HostVector<float>(weights).data(), chosen, weights);
  if (op.kind == INLAY_ROUTE_SPARSE_MIXER) {
    HostVector<std::int32_t> left = order;
    for (std::size_t c = 0; c < chosen; ++c, left.erase(left.begin())) weights[c] = share_of_near(scores, left);
  }
  double sum = 0;
  for (const float w : weights) sum += w;
  if (op.kind != INLAY_ROUTE_SIGMOID) sum = std::max(sum, 6.1e-5);
  for (std::size_t c = 0; c < chosen; ++c) {
    choice[c] = order[c];
    weight[c] = static_cast<float>((op.normalise && sum > 0 ? weights[c] / sum : weights[c]) * op.scale);
    if (op.factor) weight[c] *= value_at(*op.factor, order[c]);
  }
}

}  // namespace

void run(const Step& step, const inlay_route_op& op) {
  for (std::int64_t token = 0; token < rows(*op.logits); ++token) route_token(step, op, token);
}

}  // namespace inlay::cpu::reference
