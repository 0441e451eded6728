// Granite 4: Granite with Mamba 2 in place of attention on most layers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r mixer(norm(x));  x += r mlp(norm(x))
struct GraniteHybridLayer {
  nn::RmsNorm mixer_norm, mlp_norm;
  std::optional<nn::Attention> attention;
  std::optional<nn::Mamba2> mamba;
  nn::FeedForward mlp;
  float residual;

  GraniteHybridLayer(const nn::Weights& w, const nn::Metadata& m, int i)
      : GraniteHybridLayer(w, m, nn::Shape(m).at(m, i)) {}
  GraniteHybridLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : mixer_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        mlp(w, m, s, {.hidden = s.hidden, .normalise = true}),
        residual(nn::scale_or(m, "residual_scale", 1)) {
    if (s.kv_heads == 0) {
      mamba.emplace(w, m, s.dim, s.eps);
      return;
    }
    auto spec = m.flag("rope.scaling.finetuned", true) ? s.attention(w, m) : s.attention_unrotated();
    spec.attend.scale = m.real("attention.scale", 0);
    attention.emplace(w, spec);
  }

  void operator()(nn::Tensor& x, int i) const {
    auto h = mixer_norm(x);
    h = attention ? (*attention)(h, i) : (*mamba)(h, i);
    x += h *= residual;
    auto f = mlp(mlp_norm(x));
    x += f *= residual;
  }

  nn::Cache cache() const { return attention ? attention->cache() : mamba->cache(); }
};

struct GraniteHybrid : nn::Decoder<GraniteHybridLayer> {
  static constexpr std::string_view name = "granitehybrid";
  float embedding_scale, logit_scale;
  GraniteHybrid(const nn::Metadata& m, const nn::Weights& w)
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
