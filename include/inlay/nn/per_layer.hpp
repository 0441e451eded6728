// Inputs that each layer has for itself: a small embedding of every token for every layer, and how a layer takes it in.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// [T, layers * P]: (norm(projection(x) / sqrt(D)) + sqrt(P) table[tokens]) / sqrt(2), x being the scaled embedding.
struct PerLayerInputs {
  std::int64_t layers, width;
  Tensor table;
  Linear projection;
  RmsNorm norm;

  PerLayerInputs(const Weights& w, const Shape& s)
      : layers(s.layers), width(w.has("per_layer_proj_norm.weight") ? w.shape("per_layer_proj_norm.weight")[0] : 256) {
    table = w.table("per_layer_token_embd.weight", {s.vocabulary, layers * width});
    projection = Linear(w, "per_layer_model_proj", s.dim, layers * width);
    projection.scale /= std::sqrt(float(s.dim));
    norm = RmsNorm(w, "per_layer_proj_norm", width, s.eps);
  }
  Tensor operator()(const Tensor& x) const {
    auto inputs = norm(projection(x).split(layers)).join(), own = x.step->embed(table);
    inputs += own *= std::sqrt(float(width));
    return inputs *= std::sqrt(0.5f);
  }
};

/// y = norm(out(gelu(gate(x)) * the layer's input))
struct PerLayerGate {
  std::int64_t width;
  Linear gate, out;
  RmsNorm norm;

  PerLayerGate(const Weights& w, const Shape& s)
      : width(w.has("inp_gate.weight") ? w.shape("inp_gate.weight")[0] : 256),
        gate(w, "inp_gate", s.dim, width),
        out(w, "proj", width, s.dim),
        norm(w, "post_norm", s.dim, s.eps) {}
  Tensor operator()(const Tensor& x, const Tensor& inputs, int layer) const {
    return norm(out(x.step->glu(Act::gelu_tanh, gate(x), inputs.columns(layer * width, width))));
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
