// DeepSeek V2, V2 Lite, V3 and their kin: latent attention, and experts in groups after the first layers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct Deepseek2Layer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::LatentAttention attention;
  nn::FeedForward mlp;

  Deepseek2Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Deepseek2Layer(w, m, nn::Shape(m), i) {}
  Deepseek2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, m, s, nn::Pairing::adjacent),
        mlp(w, m, s, experts(s), i >= m.integer("leading_dense_block_count", 0)) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Moe::Defaults experts(const nn::Shape& s) {
    const bool flash = (s.layers == 47 || s.layers == 48) && s.vocabulary == 154880;  // GLM 4.7 Flash states no gating
    return {.gating = flash ? INLAY_ROUTE_SIGMOID : INLAY_ROUTE_SOFTMAX};
  }
};

struct Deepseek2 : nn::Decoder<Deepseek2Layer> {
  static constexpr std::string_view name = "deepseek2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
