// The reference's recurrent mixers: each token of each sequence in turn, the state between steps in its slot.
#include <algorithm>
#include <cmath>

#include "cpu/cache.hpp"
#include "cpu/reference_tensor.hpp"

namespace inlay::cpu::reference {
namespace {

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double softplus(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// The inputs of one scan by index; an absent one is null.
const inlay_tensor* input(const inlay_scan_op& op, int i) { return i < op.n ? op.in[i] : nullptr; }

// Row `row` of a tensor for all tokens, or of one for a single token, which then serves all.
const float* repeated_row(const inlay_tensor& tensor, std::int64_t row) { return row_of(tensor, row % rows(tensor)); }

// y = act(bias + sum over k of weight[c,k] * x[t - (width - 1) + k, c])
void conv(const inlay_scan_op& op, std::int64_t t, float* state) {
  const inlay_tensor &weight = *input(op, 0), *bias = input(op, 1);
  const std::int64_t channels = columns(*op.x), kept = columns(weight) - 1;
  const float* x = row_of(*op.x, t);
  float* y = row_of(*op.y, t);
  for (std::int64_t c = 0; c < channels; ++c) {
    const float newest = x[c];
    double sum = bias ? value_at(*bias, c) : 0.0;
    for (std::int64_t k = 0; k < kept; ++k) sum += double{row_of(weight, c)[k]} * state[k * channels + c];
    sum += double{row_of(weight, c)[kept]} * newest;
    for (std::int64_t k = 0; k + 1 < kept; ++k) state[k * channels + c] = state[(k + 1) * channels + c];
    if (kept > 0) state[(kept - 1) * channels + c] = newest;
    y[c] = activate(op.act, static_cast<float>(sum), 1.0f, 0, 0);
  }
}

// s = s * exp(dt A) + dt x B;  y = s C + D x
void selective(const inlay_scan_op& op, std::int64_t t, float* state) {
  const inlay_tensor &decay = *input(op, 1), *skip = input(op, 4), *bias = input(op, 5);
  const std::int64_t size = columns(*op.x) / op.heads, width = columns(*input(op, 2)) / op.groups;
  const float *dt = row_of(*input(op, 0), t), *b = row_of(*input(op, 2), t), *c = row_of(*input(op, 3), t);
  for (std::int64_t i = 0; i < columns(*op.x); ++i, state += width) {
    const std::int64_t head = i / size, first = head * op.groups / op.heads * width;
    const double step = softplus(double{dt[head]} + (bias ? value_at(*bias, head) : 0.0f));
    const double x = row_of(*op.x, t)[i];
    double sum = skip ? value_at(*skip, head) * x : 0.0;
    for (std::int64_t n = 0; n < width; ++n) {
      const double a = row_of(decay, head)[columns(decay) == 1 ? 0 : n];
      state[n] = static_cast<float>(state[n] * std::exp(step * a) + step * x * b[first + n]);
      sum += double{state[n]} * c[first + n];
    }
    row_of(*op.y, t)[i] = static_cast<float>(sum);
  }
}

// Factor that makes a head's vector one of length 1, where eps asks for it.
double length_factor(const float* vector, std::int64_t count, float eps) {
  if (eps == 0) return 1;
  double squares = eps;
  for (std::int64_t i = 0; i < count; ++i) squares += double{vector[i]} * vector[i];
  return 1 / std::sqrt(squares);
}

// S = e^g S;  d = beta (v - S'k);  S += k d';  y = S'q / sqrt(K)
void gated_delta(const inlay_scan_op& op, std::int64_t t, int head, float* state) {
  const inlay_tensor &gates = *input(op, 2), *rate = input(op, 4), *bias = input(op, 5);
  const std::int64_t size = columns(*input(op, 0)), width = columns(*op.x), row = t * op.heads + head;
  const float *q = row_of(*input(op, 0), row), *k = row_of(*input(op, 1), row), *v = row_of(*op.x, row);
  const bool one_gate = columns(gates) == 1;
  const double q_factor = length_factor(q, size, op.eps) / std::sqrt(static_cast<double>(size));
  const double k_factor = length_factor(k, size, op.eps);
  for (std::int64_t i = 0; i < size; ++i) {
    const std::int64_t gate = one_gate ? 0 : i;
    const double shifted =
        double{row_of(gates, row)[gate]} + (bias ? value_at(*bias, head * columns(gates) + gate) : 0.0f);
    const double g = rate ? value_at(*rate, head) * softplus(shifted) : shifted;
    for (std::int64_t j = 0; j < width; ++j)
      state[i * width + j] = static_cast<float>(state[i * width + j] * std::exp(g));
  }
  const double beta = sigmoid(row_of(*input(op, 3), row)[0]);
  for (std::int64_t j = 0; j < width; ++j) {
    double known = 0, sum = 0;
    for (std::int64_t i = 0; i < size; ++i) known += state[i * width + j] * (k[i] * k_factor);
    const double delta = beta * (v[j] - known);
    for (std::int64_t i = 0; i < size; ++i) {
      float& s = state[i * width + j];
      s = static_cast<float>(s + k[i] * k_factor * delta);
      sum += s * (q[i] * q_factor);
    }
    row_of(*op.y, row)[j] = static_cast<float>(sum);
  }
}

// y_j = sum over i of r_i S_ij and S_ij = w_i S_ij + k_i v_j, w = exp(-exp(decay)). RWKV-6 reads before it writes, with
// the newest token weighted by u; retention writes first, and divides by sqrt(K).
void linear_attention(const inlay_scan_op& op, std::int64_t t, int head, float* state) {
  const bool rwkv = op.kind == INLAY_SCAN_RWKV6;
  const inlay_tensor& decay = *input(op, 2);
  const std::int64_t size = columns(*input(op, 0)), width = columns(*op.x), row = t * op.heads + head;
  const float *r = row_of(*input(op, 0), row), *k = row_of(*input(op, 1), row), *d = repeated_row(decay, row);
  const double factor = rwkv ? 1 : 1 / std::sqrt(static_cast<double>(size));
  for (std::int64_t j = 0; j < width; ++j) {
    const double v = row_of(*op.x, row)[j];
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      float& s = state[i * width + j];
      if (rwkv) sum += r[i] * (double{row_of(*input(op, 3), head)[i]} * k[i] * v + s);
      s = static_cast<float>(s * std::exp(-std::exp(double{d[columns(decay) == 1 ? 0 : i]})) + k[i] * v);
      if (!rwkv) sum += double{r[i]} * s;
    }
    row_of(*op.y, row)[j] = static_cast<float>(sum * factor);
  }
}

// S_ij = w_j S_ij + v_i k_j - (S kappa)_i kappa_j a_j;  y = S r, w = exp(-0.606531 sigmoid(decay))
void rwkv7(const inlay_scan_op& op, std::int64_t t, int head, float* state) {
  const std::int64_t size = columns(*op.x), row = t * op.heads + head;
  const float *r = row_of(*input(op, 0), row), *k = row_of(*input(op, 1), row), *d = row_of(*input(op, 2), row);
  const float *kappa = row_of(*input(op, 3), row), *a = row_of(*input(op, 4), row);
  for (std::int64_t i = 0; i < size; ++i) {
    float* s = state + i * size;
    const double v = row_of(*op.x, row)[i];
    double known = 0, sum = 0;
    for (std::int64_t j = 0; j < size; ++j) known += double{s[j]} * kappa[j];
    for (std::int64_t j = 0; j < size; ++j) {
      const double w = std::exp(-0.606531 * sigmoid(d[j]));
      s[j] = static_cast<float>(w * s[j] + v * k[j] - known * kappa[j] * a[j]);
      sum += double{s[j]} * r[j];
    }
    row_of(*op.y, row)[i] = static_cast<float>(sum);
  }
}

// y = the token before; with in[0] = mu[J,D]: y[T,J,D] = x + (the token before - x) * mu_j
void shift(const inlay_scan_op& op, std::int64_t t, float* state) {
  const inlay_tensor* mu = input(op, 0);
  const std::int64_t width = columns(*op.x), parts = mu ? rows(*mu) : 1;
  const float* x = row_of(*op.x, t);
  for (std::int64_t d = 0; d < width; ++d) {
    const float newest = x[d];
    for (std::int64_t j = 0; j < parts; ++j) {
      row_of(*op.y, t * parts + j)[d] = mu ? newest + (state[d] - newest) * row_of(*mu, j)[d] : state[d];
    }
    state[d] = newest;
  }
}

void advance(const inlay_scan_op& op, std::int64_t t, float* state) {
  if (op.kind == INLAY_SCAN_CONV) return conv(op, t, state);
  if (op.kind == INLAY_SCAN_SELECTIVE) return selective(op, t, state);
  if (op.kind == INLAY_SCAN_SHIFT) return shift(op, t, state);
  const std::int64_t size = columns(*op.in[0]) * columns(*op.x);
  for (int head = 0; head < op.heads; ++head, state += size) {
    if (op.kind == INLAY_SCAN_GATED_DELTA) gated_delta(op, t, head, state);
    if (op.kind == INLAY_SCAN_RWKV6 || op.kind == INLAY_SCAN_RETENTION) linear_attention(op, t, head, state);
    if (op.kind == INLAY_SCAN_RWKV7) rwkv7(op, t, head, state);
  }
}

}  // namespace

void run(const Step& step, const inlay_scan_op& op) {
  for (std::int64_t index = 0; index < step.batch.seqs; ++index) {
    float* state =
        state_address(*op.cache, step.batch.state_slot[index]) + op.state_offset / std::int64_t(sizeof(float));
    const std::int64_t end = step.batch.query_start[index + 1];
    for (std::int64_t t = step.batch.query_start[index]; t < end; ++t) advance(op, t, state);
  }
}

}  // namespace inlay::cpu::reference
