// MiMo V2: windowed layers with sinks and heads of their own, values of another size than keys, and experts.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += a attention(norm(x));  x += experts(norm(x)), or an MLP where the layer has no router
struct Mimo2Layer : nn::MoeLike {
  float value_scale;

  Mimo2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, spec(w, m, s, i),
                     nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID, .normalise = true})),
        value_scale(nn::scale_or(m, "attention.value_scale", 1)) {}

  void operator()(nn::Tensor& x, int i) const {
    auto h = attention(attn_norm(x), i);
    x += h *= value_scale;
    x += feed(mlp_norm(x));
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = m.flag("attention.sliding_window_pattern", i, false)
                    ? s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, true)
                    : s.attention(w, m, nn::Pairing::halves);
    spec.attend.sinks = w.maybe("attn_sinks.weight", {s.heads});
    return spec;
  }
};

struct Mimo2 : nn::Decoder<Mimo2Layer> {
  static constexpr std::string_view name = "mimo2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
