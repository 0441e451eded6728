// Jamba: Mamba layers, an attention layer without rotation here and there, experts on some.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x));  x += mlp(norm(x))
struct JambaLayer : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::AttentionOr<nn::Attention, nn::Mamba>> {
  JambaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, mixer(w, m, s), nn::FeedForward(w, m, s, {.hidden = s.hidden})) {}

  static nn::AttentionOr<nn::Attention, nn::Mamba> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                         const nn::Shape& s) {
    if (s.kv_heads == 0) return nn::Mamba(w, m, s.dim, s.eps);
    return nn::Attention(w, s.attention_unrotated());
  }
};

struct Jamba : nn::Decoder<JambaLayer> {
  static constexpr std::string_view name = "jamba";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
