// Alternating updates (Baykal et al. 2023): a wide state of several streams, of which a layer computes on the first
// only and predicts the rest.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// One layer's predictor and corrector. Streams stand side by side: x is [T, streams * D].
struct AltUp {
  std::int64_t dim, streams;
  RmsNorm norm;
  Linear router, prediction, correction;

  AltUp(const Weights& w, const Shape& s)
      : dim(s.dim),
        streams(w.has("altup_router.weight") ? w.shape("altup_router.weight")[0] : 4),
        norm(w, "altup_router_norm", dim, s.eps),
        router(w, "altup_router", dim, streams),
        prediction(w, "altup_predict_coef", streams, streams * streams),
        correction(w, "altup_correct_coef", streams, streams) {
    router.scale /= float(dim);
  }
  Tensor stream(const Tensor& all, std::int64_t j) const { return all.columns(j * dim, dim); }
  Tensor routed(const Tensor& x) const { return x.step->glu(Act::tanh, router(norm(x)), {}); }

  /// p_j = x_j + sum over i of c_ij x_i, the coefficients being those of the first stream.
  Tensor predict(const Tensor& x) const {
    const auto coefficients = prediction(routed(stream(x, 0)));
    const auto p = x.step->scratch({x.rows(), streams * dim});
    x.step->copy(x, p);
    for (std::int64_t j = 0; j < streams; ++j)
      for (std::int64_t i = 0; i < streams; ++i) {
        auto predicted = stream(p, j);
        predicted += stream(x, i) * coefficients.columns(i + streams * j, 1);
      }
    return p;
  }

  /// p_j += (1 + c_j) (z - p_0), z being what the layer made of p_0.
  void correct(const Tensor& p, const Tensor& z) const {
    const auto innovation = z - stream(p, 0), coefficients = correction(routed(z));
    for (std::int64_t j = 0; j < streams; ++j) {
      auto corrected = stream(p, j);
      corrected += innovation;
      corrected += innovation * coefficients.columns(j, 1);
    }
  }
};

/// The first stream and those that matrices [streams - 1, D, D] make of it or bring back to one, all as long as it is.
struct AltUpEnds {
  std::int64_t dim, others;
  Tensor spread, gather;

  AltUpEnds(const Weights& w, std::int64_t dim)
      : dim(dim),
        others(w.has("altup_proj.weight") ? w.shape("altup_proj.weight")[0] : 3),
        spread(w.matrix("altup_proj.weight", {others, dim, dim})),
        gather(w.matrix("altup_unembd_proj.weight", {others, dim, dim})) {}

  Tensor streams(const Tensor& x) const {
    auto& step = *x.step;
    const auto all = step.scratch({x.rows(), (others + 1) * dim}), size = step.size(INLAY_NORM_SIZE, x);
    const auto made = step.linear(x.view_as({x.rows(), others, dim}, {dim, 0, 1}), spread);
    step.copy(x, all.columns(0, dim));
    for (std::int64_t j = 0; j < others; ++j) step.copy(scaled(made, j) * size, all.columns((j + 1) * dim, dim));
    return all;
  }
  Tensor mean(const Tensor& all) const {
    auto& step = *all.step;
    auto x = step.scratch({all.rows(), dim});
    step.copy(all.columns(0, dim), x);
    const auto made = step.linear(all.columns(dim, others * dim).split(others), gather);
    const auto size = step.size(INLAY_NORM_SIZE, all.columns(0, dim));
    for (std::int64_t j = 0; j < others; ++j) x += scaled(made, j) * size;
    return x *= 1 / float(others + 1);
  }

 private:
  static Tensor scaled(const Tensor& made, std::int64_t j) {
    constexpr float least = 1e-12f;  // so that nothing stays nothing
    return made.step->norm(INLAY_NORM_RMS, made.heads(j, 1).join(), {}, {}, least);
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
