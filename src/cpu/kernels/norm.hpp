// Norms over rows, alone or on the way into a matrix product.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/kernels/vectors.hpp"

namespace inlay::cpu {
namespace {

// The sum over i of f(x[i]), in double: in eight running sums, which are then added in pairs.
template <class F>
inline double sum_in_double(const float* x, std::int64_t n, F f) noexcept {
  double sums[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    for (int j = 0; j < 8; ++j) sums[j] += f(static_cast<double>(x[i + j]));
  }
  for (int j = 0; i < n; ++i, ++j) sums[j] += f(static_cast<double>(x[i]));
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// The mean of x, or zero for kinds that do not subtract it; and the sum of the squares of what is left.
struct RowSize {
  double mean, squares;
};
inline RowSize size_of_row(const inlay_norm_op& op, const float* x, std::int64_t n) noexcept {
  double mean = 0;
  if (op.kind == INLAY_NORM_LAYER || op.kind == INLAY_NORM_SPREAD)
    mean = sum_in_double(x, n, [](double v) { return v; }) / static_cast<double>(n);
  return {mean, sum_in_double(x, n, [mean](double v) { return (v - mean) * (v - mean); })};
}

// One row; gain and bias may be null, y may be x.
template <class A>
inline void norm_row(const inlay_norm_op& op, float* y, const float* x, const float* gain, const float* bias,
                     std::int64_t n) noexcept {
  using B = Floats<A>;
  const auto [mean, squares] = size_of_row(op, x, n);
  const double eps = op.eps;
  const double length =
      op.kind == INLAY_NORM_L2 ? std::max(squares, eps * eps) : squares / static_cast<double>(n) + eps;
  if (op.kind == INLAY_NORM_SIZE || op.kind == INLAY_NORM_SPREAD) {
    *y = static_cast<float>(std::sqrt(length));
    return;
  }
  const B shift(static_cast<float>(mean)), factor(static_cast<float>(1.0 / std::sqrt(length)));
  const auto scaled = [=](B v) { return (v - shift) * factor; };
  if (gain && bias) {
    transform<A>(
        y, n, [=](B v, B g, B b) { return scaled(v) * g + b; }, x, gain, bias);
  } else if (gain) {
    transform<A>(
        y, n, [=](B v, B g) { return scaled(v) * g; }, x, gain);
  } else if (bias) {
    transform<A>(
        y, n, [=](B v, B b) { return scaled(v) + b; }, x, bias);
  } else {
    transform<A>(y, n, scaled, x);
  }
}

template <class A>
void norm(const Chunk& chunk) noexcept {
  const auto& op = *static_cast<const inlay_norm_op*>(chunk.task);
  const Rows y(*op.y), x(*op.x);
  const OptionalRows gain(op.gain), bias(op.bias);
  const Share share(x.count, chunk);
  for (auto row = share.begin; row < share.end; ++row) norm_row<A>(op, y[row], x[row], gain[row], bias[row], x.width);
}

}  // namespace
}  // namespace inlay::cpu
