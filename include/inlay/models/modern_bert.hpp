// ModernBERT: a pre-norm encoder with rotation, a gated MLP, and two windowed layers for each that sees everything.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)); the first layer's attention reads x itself
struct ModernBertLayer {
  nn::LayerNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  ModernBertLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(i == 0 ? nn::LayerNorm::maybe(w, "attn_norm", s.dim, s.eps)
                         : nn::LayerNorm(w, "attn_norm", s.dim, s.eps)),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, i)),
        mlp(w, s.dim, s.hidden, act(m)) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm ? attn_norm(x) : x, i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Act act(const nn::Metadata& m) {
    return m.text("hidden_activation", "gelu") == "silu" ? nn::Act::silu : nn::Act::gelu;
  }
  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    return nn::both_ways(nn::windowed(m, i, 3, true) ? s.attention_windowed(w, m, nn::Pairing::halves, 10000, false)
                                                     : s.attention(w, m, nn::Pairing::halves));
  }
};

struct ModernBert : nn::Encoder<ModernBertLayer> {
  static constexpr std::string_view name = "modern-bert";
  nn::LayerNorm embed_norm, last_norm;
  ModernBert(const nn::Metadata& m, const nn::Weights& w)
      : Encoder(m, w, nn::Shape(m, nn::Eps::layer)),
        embed_norm(w, "token_embd_norm", shape.dim, shape.eps),
        last_norm(w, "output_norm", shape.dim, shape.eps) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed_norm(embed(step));
    step.through(layers, x);
    return last_norm(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
