// Qwen 3 Next and 3.5: Gated DeltaNet on three of four layers, gated attention on the fourth.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// o(attend(q, k, v) * sigmoid(gate)), with the gates beside the queries in one matrix
struct GatedAttention {
  nn::AttendSpec spec;
  nn::Linear query_gate, k, v, o;
  nn::RmsNorm q_norm, k_norm;
  nn::Rope rope;

  GatedAttention(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : spec(s.attention_unrotated().attend),
        query_gate(w, "attn_q", s.dim, 2 * std::int64_t(s.heads) * s.head_dim),
        k(w, "attn_k", s.dim, std::int64_t(s.kv_heads) * s.head_dim),
        v(w, "attn_v", s.dim, std::int64_t(s.kv_heads) * s.head_dim),
        o(w, "attn_output", std::int64_t(s.heads) * s.head_dim, s.dim),
        q_norm(w, "attn_q_norm", s.head_dim, s.eps),
        k_norm(w, "attn_k_norm", s.head_dim, s.eps),
        rope(s.rope(w, m, nn::Pairing::halves)) {}

  nn::Tensor operator()(const nn::Tensor& x, int i) const {
    const auto both = query_gate(x).split(spec.heads), gate = both.columns(spec.head_dim, spec.head_dim);
    const auto queries = q_norm(both.columns(0, spec.head_dim)), keys = k_norm(k(x).split(spec.kv_heads));
    const auto values = v(x).split(spec.kv_heads);
    rope(queries);
    rope(keys);
    const auto y = x.step->attend(i, queries, keys, values, spec).split(spec.heads);
    return o(x.step->glu(nn::Act::sigmoid, gate, y).join());
  }
  nn::Cache cache() const { return {.kv_heads = spec.kv_heads, .head_dim = spec.head_dim, .value_dim = spec.head_dim}; }
};

/// x += mixer(norm(x));  x += mlp(norm(x))
template <nn::GatedDelta::Sharing sharing>
struct Qwen3NextLayer
    : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::AttentionOr<GatedAttention, nn::GatedDelta>> {
  Qwen3NextLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : Qwen3NextLayer::PreNormLayer(w, s, mixer(w, m, s, i),
                                     nn::FeedForward(w, m, s, {.hidden = s.hidden, .normalise = true}),
                                     "post_attention_norm") {}

  static nn::AttentionOr<GatedAttention, nn::GatedDelta> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                               const nn::Shape& s, int i) {
    const int interval = std::max(1, m.integer("full_attention_interval", 4));
    if (m.flag("attention.recurrent_layers", i, (i + 1) % interval != 0))
      return nn::GatedDelta(w, m, s.dim, s.eps, sharing);
    return GatedAttention(w, m, s);
  }
};

struct Qwen3Next : nn::Decoder<Qwen3NextLayer<nn::GatedDelta::Sharing::neighbours>> {
  static constexpr std::string_view name = "qwen3next";
  using Decoder::Decoder;
};

/// Qwen 3.5: the converter has put the value heads of each key head a stride apart.
struct Qwen35 : nn::Decoder<Qwen3NextLayer<nn::GatedDelta::Sharing::strided>> {
  static constexpr std::string_view name = "qwen35";
  static constexpr std::string_view also[] = {"qwen35moe"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
