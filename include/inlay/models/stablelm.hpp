// StableLM: Llama with layer norms and partial rotation; the 12B runs attention and MLP side by side.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)), or x += attention(h) + mlp(h)
struct StableLmLayer : nn::PreNormLayer<nn::MaybeLayerNorm, nn::GatedMlp> {
  StableLmLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  void operator()(nn::Tensor& x, int i) const {
    if (mlp_norm) return PreNormLayer::operator()(x, i);
    const auto h = attn_norm(x);
    x += attention(h, i) + feed(h);
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.norm = INLAY_NORM_LAYER;
    return spec;
  }
};

struct StableLm : nn::Decoder<StableLmLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "stablelm";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
