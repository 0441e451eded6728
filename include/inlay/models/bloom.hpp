// BLOOM: layer norms, ALiBi instead of positions, and a normed embedding.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct BloomLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  BloomLayer(const nn::Weights& w, const nn::Metadata& m, int) : BloomLayer(w, nn::Shape(m)) {}
  BloomLayer(const nn::Weights& w, const nn::Shape& s)
      : PreNormLayer(w, s, spec(w, s), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Shape& s) {
    auto spec = s.attention_unrotated();
    spec.attend.slopes = w.constant(nn::alibi_slopes(s.heads));
    return spec;
  }
};

struct Bloom : nn::Decoder<BloomLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "bloom";
  nn::LayerNorm embed_norm;
  Bloom(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w), embed_norm(w, "token_embd_norm", shape.dim, shape.eps) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed_norm(embed(step));
    step.through(layers, x);
    return head(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
