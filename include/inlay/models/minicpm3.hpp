// MiniCPM 3: latent attention in its plain form, with scales that no key states.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r attention(norm(x));  x += r mlp(norm(x)), r = 1.4 / sqrt(layers)
struct Minicpm3Layer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::LatentAttention attention;
  nn::GatedMlp mlp;
  float residual;

  Minicpm3Layer(const nn::Weights& w, const nn::Metadata& m, int) : Minicpm3Layer(w, m, nn::Shape(m)) {}
  Minicpm3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, m, s, nn::Pairing::halves),
        mlp(w, s.dim, s.hidden),
        residual(1.4f / std::sqrt(float(s.layers))) {}

  void operator()(nn::Tensor& x, int i) const {
    auto h = attention(attn_norm(x), i);
    x += h *= residual;
    auto f = mlp(mlp_norm(x));
    x += f *= residual;
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Minicpm3 : nn::Decoder<Minicpm3Layer> {
  static constexpr std::string_view name = "minicpm3";
  using Decoder::Decoder;

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    x *= 12;
    step.through(layers, x);
    auto logits = head(x);
    return logits *= 256 / float(shape.dim);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
