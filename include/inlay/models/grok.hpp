// Grok: four norms a layer, capped scores, experts with GELU, and in Grok 2 an MLP beside them.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(experts(norm(x))), or (experts + mlp) / sqrt(2)
struct GrokLayer {
  nn::RmsNorm attn_norm, post_attn_norm, mlp_norm, post_mlp_norm;
  nn::Attention attention;
  nn::Moe experts;
  nn::GatedMlp mlp;

  GrokLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        post_attn_norm(w, "attn_output_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        post_mlp_norm(w, w.has("layer_output_norm.weight") ? "layer_output_norm" : "post_ffw_norm", s.dim, s.eps),
        attention(w, spec(w, m, s)),
        experts(w, m, s, {.hidden = s.hidden, .normalise = true, .act = nn::Act::gelu_tanh}) {
    if (w.has("ffn_up.weight")) mlp = nn::GatedMlp(w, s.dim, s.hidden, nn::Act::gelu_tanh);
  }

  void operator()(nn::Tensor& x, int i) const {
    x += post_attn_norm(attention(attn_norm(x), i));
    const auto h = mlp_norm(x);
    auto f = experts(h);
    if (mlp.up) f += mlp(h), f *= std::sqrt(0.5f);
    x += post_mlp_norm(f);
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.attend.scale = m.real("attention.output_scale", 0.08838834764831845f);
    spec.attend.softcap = m.real("attn_logit_softcapping", 30);
    return spec;
  }
};

struct Grok : nn::Decoder<GrokLayer> {
  static constexpr std::string_view name = "grok";
  Grok(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    embed.scale = m.real("embedding_scale", 78.38367176906169f);
    head.scale = m.real("logit_scale", 0.5773502691896257f);
    head.softcap = m.real("final_logit_softcapping", 0);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
