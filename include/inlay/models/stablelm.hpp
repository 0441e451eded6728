// StableLM: Llama with layer norms and partial rotation; the 12B runs attention and MLP side by side.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)), or x += attention(h) + mlp(h)
struct StableLmLayer {
  nn::LayerNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;
  bool parallel;

  StableLmLayer(const nn::Weights& w, const nn::Metadata& m, int) : StableLmLayer(w, m, nn::Shape(m)) {}
  StableLmLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s)),
        mlp(w, s.dim, s.hidden),
        parallel(!w.has("ffn_norm.weight")) {}

  void operator()(nn::Tensor& x, int i) const {
    if (parallel) {
      const auto h = attn_norm(x);
      x += attention(h, i) + mlp(h);
      return;
    }
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

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
