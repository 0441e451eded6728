// MPT: layer norms mostly without biases, ALiBi, clamped projections.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct MptLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  MptLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    const float most = m.real("attention.max_alibi_bias", 0);
    auto spec = most > 0 ? s.attention_sloped(w, most) : s.attention_unrotated();
    spec.norm = INLAY_NORM_LAYER;
    return spec;
  }
};

struct Mpt : nn::Decoder<MptLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "mpt";
  nn::Tensor positions;
  Mpt(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    if (w.has("position_embd.weight")) positions = nn::learned_positions(m, w, shape.dim);
  }

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    if (positions) x += step.embed_positions(positions);
    return decode(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
