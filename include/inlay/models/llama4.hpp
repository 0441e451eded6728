// Llama 4: chunked attention with rotation on three of four layers, experts whose input is weighted.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP between
struct Llama4Layer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::FeedForward mlp;
  nn::Tensor temperature;  // [context, 1], by position, on layers without rotation
  bool unit_heads;

  Llama4Layer(const nn::Weights& w, const nn::Metadata& m, int i)
      : Llama4Layer(w, m, nn::Shape(m), i, (i + 1) % 4 == 0) {}
  Llama4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i, bool whole)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, whole && chunked(m))),
        mlp(w, m, s, experts(m), sparse(m, i)),
        unit_heads(!(whole && chunked(m)) && m.integer("expert_count", 0) != 128) {
    if (whole && chunked(m))
      temperature =
          nn::position_scale(w, m, [](int p) { return 1 + 0.1f * std::log(1 + std::floor((p + 1) / 8192.f)); });
  }

  void operator()(nn::Tensor& x, int i) const {
    auto heads = attention.project(attn_norm(x));
    if (unit_heads) {
      heads.q = x.step->norm(INLAY_NORM_RMS, heads.q, {}, {}, attn_norm.eps);
      heads.k = x.step->norm(INLAY_NORM_RMS, heads.k, {}, {}, attn_norm.eps);
    }
    if (temperature)
      heads.q = (heads.q.join() * x.step->embed_positions(temperature)).split(attention.spec.attend.heads);
    x += attention.o(attention.attend(heads, i));
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  static bool chunked(const nn::Metadata& m) { return m.integer("attention.sliding_window", 8192) != 0; }
  static bool sparse(const nn::Metadata& m, int i) {
    const int step = m.integer("interleave_moe_layer_step", 0);
    return step > 0 && (i + 1) % step == 0;
  }
  static nn::Moe::Defaults experts(const nn::Metadata& m) {
    const auto hidden = m.integer("expert_feed_forward_length", 0);
    return {.hidden = hidden, .gating = INLAY_ROUTE_SIGMOID, .shared_hidden = hidden, .weight_first = true};
  }
  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, bool whole) {
    if (whole) return s.attention_unrotated();
    auto spec = s.attention(w, m);
    if (chunked(m)) spec.attend.mask = nn::Mask::chunked, spec.attend.window = 8192;
    return spec;
  }
};

struct Llama4 : nn::Decoder<Llama4Layer> {
  static constexpr std::string_view name = "llama4";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
