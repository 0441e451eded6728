// Jais: GPT-2 with slopes over distances, a gated MLP, and scores scaled by the size of a head.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct JaisLayer : nn::PreNormLayer<nn::LayerNorm, nn::GatedMlp> {
  JaisLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    const float most = m.real("attention.max_alibi_bias", 0);
    auto spec = most > 0 ? s.attention_sloped(w, most) : s.attention_unrotated();
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
