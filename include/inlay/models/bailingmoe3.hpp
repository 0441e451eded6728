// Ling 3: Kimi Delta Attention with bounded decays on most layers, gated latent attention on the rest, and experts.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct BailingMoe3Layer
    : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::AttentionOr<nn::LatentAttention, nn::KimiDelta>> {
  BailingMoe3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, mixer(w, m, s),
                     nn::FeedForward(w, m, s, experts(m, i), i >= m.integer("leading_dense_block_count", 0))) {
    feed.moe.shared.limit = m.real("swiglu_clamp_shexp", i, 0), feed.moe.shared.act = act(feed.moe.shared.limit);
  }

  static nn::Act act(float limit) { return limit > 0 ? nn::Act::swiglu_limited : nn::Act::silu; }
  static nn::Moe::Defaults experts(const nn::Metadata& m, int i) {
    const float limit = m.real("swiglu_clamp_exp", i, 0);
    return {.gating = INLAY_ROUTE_SIGMOID, .act = act(limit), .limit = limit};
  }
  static nn::AttentionOr<nn::LatentAttention, nn::KimiDelta> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                                   const nn::Shape& s) {
    if (s.kv_heads == 0) return nn::KimiDelta(w, m, s);
    nn::LatentAttention attention(w, m, s, nn::Pairing::adjacent);
    attention.gate = nn::Linear(w, "attn_gate", s.dim, s.heads);
    return attention;
  }
};

struct BailingMoe3 : nn::Decoder<BailingMoe3Layer> {
  static constexpr std::string_view name = "bailingmoe3";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
