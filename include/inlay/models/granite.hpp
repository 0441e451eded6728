// Granite and Granite MoE: Llama with four scales, and experts where the file has a router.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r attention(norm(x));  x += r mlp(norm(x))
struct GraniteLayer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::FeedForward mlp;
  float residual;

  GraniteLayer(const nn::Weights& w, const nn::Metadata& m, int) : GraniteLayer(w, m, nn::Shape(m)) {}
  GraniteLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s)),
        mlp(w, m, s, {.hidden = s.hidden, .normalise = true}),
        residual(nn::scale_or(m, "residual_scale", 1)) {}

  void operator()(nn::Tensor& x, int i) const {
    auto h = attention(attn_norm(x), i);
    x += h *= residual;
    auto f = mlp(mlp_norm(x));
    x += f *= residual;
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = m.flag("rope.scaling.finetuned", true) ? s.attention(w, m) : s.attention_unrotated();
    spec.attend.scale = m.real("attention.scale", 0);
    return spec;
  }
};

struct Granite : nn::Decoder<GraniteLayer> {
  static constexpr std::string_view name = "granite";
  float embedding_scale, logit_scale;
  Granite(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w),
        embedding_scale(nn::scale_or(m, "embedding_scale", 1)),
        logit_scale(nn::scale_or(m, "logit_scale", 1)) {}

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
