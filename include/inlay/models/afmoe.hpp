// AFMoE (Arcee Trinity): gated attention, rotation in windowed layers only, and norms on both sides of every block.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(experts(norm(x))), or an MLP on the first layers
struct AfmoeLayer {
  nn::RmsNorm attn_norm, post_attn_norm, mlp_norm, post_mlp_norm;
  nn::GatedAttention attention;
  nn::FeedForward mlp;

  AfmoeLayer(const nn::Weights& w, const nn::Metadata& m, int i) : AfmoeLayer(w, m, nn::Shape(m), i) {}
  AfmoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        post_attn_norm(w, "post_attention_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        post_mlp_norm(w, "post_ffw_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, i), nn::Act::sigmoid),
        mlp(w, m, s, experts(m), i >= m.integer("leading_dense_block_count", 0)) {}

  void operator()(nn::Tensor& x, int i) const {
    x += post_attn_norm(attention(attn_norm(x), i));
    x += post_mlp_norm(mlp(mlp_norm(x)));
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const int window = m.integer("attention.sliding_window", 0);
    if (!nn::windowed(m, i, 4)) return s.attention_unrotated();
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.attend.window = window;
    return spec;
  }
  static nn::Moe::Defaults experts(const nn::Metadata& m) {
    const std::int64_t hidden = m.integer("expert_feed_forward_length", 0);
    return {.gating = INLAY_ROUTE_SIGMOID, .shared_hidden = hidden * m.integer("expert_shared_count", 1)};
  }
};

struct Afmoe : nn::Decoder<AfmoeLayer> {
  static constexpr std::string_view name = "afmoe";
  using Decoder::Decoder;

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    x *= std::sqrt(float(shape.dim));
    step.through(layers, x);
    return head(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
