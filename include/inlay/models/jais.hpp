// Jais: GPT-2 with slopes over distances, a gated MLP, and scores scaled by the size of a head.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct JaisLayer : nn::PreNormLayer<nn::LayerNorm, nn::GatedMlp> {
  JaisLayer(const nn::Weights& w, const nn::Metadata& m, int) : JaisLayer(w, m, nn::Shape(m)) {}
  JaisLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention_unrotated();
    const float bias = m.real("attention.max_alibi_bias", 0);
    if (bias > 0) spec.attend.slopes = w.constant(nn::alibi_slopes(s.heads, bias));
    spec.attend.scale = 1 / float(s.head_dim);
    return spec;
  }
};

struct Jais : nn::Decoder<JaisLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "jais";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
