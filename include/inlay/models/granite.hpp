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
      : GraniteLayer(w, m, s, spec(w, m, s)) {}
  GraniteLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, const nn::Attention::Spec& how)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, how),
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

template <class Layer>
struct GraniteModel : nn::Decoder<Layer> {
  float embedding_scale, logit_scale;
  GraniteModel(const nn::Metadata& m, const nn::Weights& w)
      : nn::Decoder<Layer>(m, w),
        embedding_scale(nn::scale_or(m, "embedding_scale", 1)),
        logit_scale(nn::scale_or(m, "logit_scale", 1)) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = this->embed(step);
    x *= embedding_scale;
    step.through(this->layers, x);
    auto logits = this->head(x);
    return logits *= 1 / logit_scale;
  }
};

struct Granite : GraniteModel<GraniteLayer> {
  static constexpr std::string_view name = "granite";
  using GraniteModel::GraniteModel;
};

/// With windows: sinks on every layer, and layers that do or do not rotate.
struct GraniteSwaLayer : GraniteLayer {
  GraniteSwaLayer(const nn::Weights& w, const nn::Metadata& m, int i) : GraniteSwaLayer(w, m, nn::Shape(m), i) {}
  GraniteSwaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : GraniteLayer(w, m, s, windowed_spec(w, m, s, i)) {}

  static nn::Attention::Spec windowed_spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = m.flag("attention.rope_pattern", i, true) ? s.attention(w, m) : s.attention_unrotated();
    spec.attend.scale = m.real("attention.scale", 0);
    spec.attend.sinks = w("attn_sinks.weight", {s.heads});
    if (nn::windowed(m, i, 4, true)) spec.attend.window = m.integer("attention.sliding_window");
    return spec;
  }
};

struct GraniteSwa : GraniteModel<GraniteSwaLayer> {
  static constexpr std::string_view name = "granite_swa";
  using GraniteModel::GraniteModel;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
