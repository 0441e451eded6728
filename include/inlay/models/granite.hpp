// Granite: Llama with four scales, experts where the file has a router, and in the fourth Mamba 2 on most layers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r attention(norm(x));  x += r mlp(norm(x))
struct GraniteLayer : nn::ScaledLayer<nn::FeedForward> {
  GraniteLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : GraniteLayer(w, m, s, spec(w, m, s)) {}
  GraniteLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, const nn::Attention::Spec& how)
      : ScaledLayer(w, s, nn::Attention(w, how), nn::FeedForward(w, m, s, {.hidden = s.hidden, .normalise = true}),
                    nn::scale_or(m, "residual_scale", 1)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = m.flag("rope.scaling.finetuned", true) ? s.attention(w, m) : s.attention_unrotated();
    spec.attend.scale = m.real("attention.scale", 0);
    return spec;
  }
};

template <class Layer>
struct GraniteModel : nn::Decoder<Layer> {
  GraniteModel(const nn::Metadata& m, const nn::Weights& w) : nn::Decoder<Layer>(m, w) {
    this->embed.scale = nn::scale_or(m, "embedding_scale", 1);
    this->head.scale = 1 / nn::scale_or(m, "logit_scale", 1);
  }
};

struct Granite : GraniteModel<GraniteLayer> {
  static constexpr std::string_view name = "granite";
  static constexpr std::string_view also[] = {"granitemoe"};
  using GraniteModel::GraniteModel;
};

/// With windows: sinks on every layer, and layers that do or do not rotate.
struct GraniteSwaLayer : GraniteLayer {
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

/// x += r mixer(norm(x));  x += r mlp(norm(x))
struct GraniteHybridLayer : nn::ScaledLayer<nn::FeedForward, nn::AttentionOr<nn::Attention, nn::Mamba2>> {
  GraniteHybridLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ScaledLayer(w, s, mixer(w, m, s), nn::FeedForward(w, m, s, {.hidden = s.hidden, .normalise = true}),
                    nn::scale_or(m, "residual_scale", 1)) {}

  static nn::AttentionOr<nn::Attention, nn::Mamba2> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                          const nn::Shape& s) {
    if (s.kv_heads == 0) return nn::Mamba2(w, m, s.dim, s.eps);
    return nn::Attention(w, GraniteLayer::spec(w, m, s));
  }
};

struct GraniteHybrid : GraniteModel<GraniteHybridLayer> {
  static constexpr std::string_view name = "granitehybrid";
  using GraniteModel::GraniteModel;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
