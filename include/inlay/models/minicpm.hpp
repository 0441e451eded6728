// MiniCPM: Llama with a scaled embedding, scaled residuals and scaled logits.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r attention(norm(x));  x += r mlp(norm(x))
struct MinicpmLayer : nn::LlamaLike {
  float residual;
  MinicpmLayer(const nn::Weights& w, const nn::Metadata& m, int) : MinicpmLayer(w, m, nn::Shape(m)) {}
  MinicpmLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.hidden)),
        residual(nn::scale_or(m, "residual_scale", 1.4f / std::sqrt(float(s.layers)))) {}

  void operator()(nn::Tensor& x, int i) const {
    auto h = attention(attn_norm(x), i);
    x += h *= residual;
    auto f = feed(mlp_norm(x));
    x += f *= residual;
  }
};

struct Minicpm : nn::Decoder<MinicpmLayer> {
  static constexpr std::string_view name = "minicpm";
  float embedding_scale, logit_scale;
  Minicpm(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w),
        embedding_scale(nn::scale_or(m, "embedding_scale", 12)),
        logit_scale(nn::scale_or(m, "logit_scale", float(shape.dim) / 256)) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    x *= embedding_scale;
    step.through(layers, x);
    auto logits = head(x);
    return logits *= 1 / logit_scale;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
