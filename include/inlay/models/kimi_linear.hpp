// Kimi Linear: layers of gated deltas with a decay for each channel, and of latent attention without positions.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct KimiLinearLayer
    : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::AttentionOr<nn::LatentAttention, nn::KimiDelta>> {
  KimiLinearLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, mixer(w, m, s),
                     nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID, .normalise = true})) {}

  static nn::AttentionOr<nn::LatentAttention, nn::KimiDelta> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                               const nn::Shape& s) {
    if (s.kv_heads == 0) return nn::KimiDelta(w, m, s);
    nn::LatentAttention attention(w, m, s, nn::Pairing::adjacent);
    attention.rope = {};
    return attention;
  }
};

struct KimiLinear : nn::Decoder<KimiLinearLayer> {
  static constexpr std::string_view name = "kimi-linear";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
