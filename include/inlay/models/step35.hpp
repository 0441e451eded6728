// Step 3.5 and 3.7: a gate for each head, heads and rotations that differ behind windows, and experts that are limited.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct Step35Layer : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::GatedAttention> {
  Step35Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, nn::GatedAttention(w, spec(w, m, s, i), nn::Act::sigmoid),
                     nn::FeedForward(w, m, s, experts(m, i))) {
    for (auto* mlp : {&feed.mlp, &feed.moe.shared}) {
      mlp->limit = m.real("swiglu_clamp_shexp", i, 0);
      mlp->act = act(mlp->limit);
    }
  }

  static nn::Act act(float limit) { return limit > 0 ? nn::Act::swiglu_limited : nn::Act::silu; }
  static nn::Moe::Defaults experts(const nn::Metadata& m, int i) {
    const float limit = m.real("swiglu_clamp_exp", i, 0);
    return {.gating = INLAY_ROUTE_SIGMOID, .normalise = true, .act = act(limit), .limit = limit};
  }

  /// Layers that see everything rotate half of a head, by frequencies that the file may divide.
  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, nn::Shape s, int i) {
    if (nn::windowed(m, i, 4)) return s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, false);
    s.rope_dims /= 2;
    return s.attention(w, m, nn::Pairing::halves);
  }
};

struct Step35 : nn::Decoder<Step35Layer> {
  static constexpr std::string_view name = "step35";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
