// Hyper-connections (Zhu et al. 2024), independent ones: layers read and write several residual streams at once.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// Streams stand side by side: x is [T, streams * D]. What is read is the sum of w_j x_j, and each stream gets v_j
/// times what is written: w = sigmoid(a M x' + b) + eps, v = magnitude sigmoid(a' M' x' + b') + eps, x' being x normed
/// as a whole. Where nothing is written, the file has the first half alone.
struct HyperConnection {
  std::int64_t streams, dim;
  Linear mix;
  Tensor scale, base, factor, least;
  float eps;

  HyperConnection(const Weights& w, const Metadata& m, const Shape& s, const std::string& name, bool writes)
      : streams(m.integer("hyper_connection.count")), dim(s.dim), eps(s.eps) {
    constexpr std::int64_t most = 64;
    if (streams < 1 || streams > most) m.refuse("hyper_connection.count", "is out of range");
    const auto halves = std::int64_t(writes ? 2 : 1), count = halves * streams;
    mix = Linear(w, name + "_fn", streams * dim, count);
    base = row(w(name + "_base.weight", {count}));
    const auto* scales = static_cast<const float*>(w(name + "_scale.weight", {halves}).view.data);
    std::vector<float> scaled, factors;
    for (std::int64_t i = 0; i < count; ++i) {
      scaled.push_back(scales[i / streams]);
      factors.push_back(i < streams ? 1 : m.real("hyper_connection.magnitude"));
    }
    scale = row(w.constant(scaled)), factor = row(w.constant(factors));
    least = row(w.constant(std::vector<float>(std::size_t(count), m.real("hyper_connection.epsilon"))));
  }

  /// As many copies of x.
  Tensor spread(const Tensor& x) const {
    const auto all = x.step->scratch({x.rows(), streams * dim});
    for (std::int64_t j = 0; j < streams; ++j) x.step->copy(x, stream(all, j));
    return all;
  }
  /// w and v, [T, 2 * streams].
  Tensor weights(const Tensor& x) const {
    const auto normed = x.step->norm(INLAY_NORM_RMS, x, {}, {}, eps);
    return x.step->glu(Act::sigmoid, mix(normed) * scale + base, {}) * factor + least;
  }
  Tensor read(const Tensor& x, const Tensor& weights) const {
    auto sum = stream(x, 0) * weights.columns(0, 1);
    for (std::int64_t j = 1; j < streams; ++j) sum += stream(x, j) * weights.columns(j, 1);
    return sum;
  }
  void write(const Tensor& x, const Tensor& weights, const Tensor& y) const {
    for (std::int64_t j = 0; j < streams; ++j) {
      auto written = stream(x, j);
      written += y * weights.columns(streams + j, 1);
    }
  }

 private:
  Tensor stream(const Tensor& x, std::int64_t j) const { return x.columns(j * dim, dim); }
  static Tensor row(const Tensor& values) {
    return values.view_as({1, values.view.shape[0]}, {values.view.shape[0], 1});
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
