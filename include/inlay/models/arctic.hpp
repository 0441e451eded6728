// Snowflake Arctic: Llama with experts beside the MLP, which read what came before attention.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = x + attention(norm(x));  x = h + mlp(norm(h)) + experts(norm(x))
struct ArcticLayer {
  nn::RmsNorm attn_norm, mlp_norm, experts_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;
  nn::Moe experts;

  ArcticLayer(const nn::Weights& w, const nn::Metadata& m, int) : ArcticLayer(w, m, nn::Shape(m)) {}
  ArcticLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        experts_norm(w, "ffn_norm_exps", s.dim, s.eps),
        attention(w, s.attention(w, m)),
        mlp(w, s.dim, s.dim),
        experts(w, m, s, {.hidden = s.hidden, .normalise = true}) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto routed = experts(experts_norm(x));
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x)) + routed;
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Arctic : nn::Decoder<ArcticLayer> {
  static constexpr std::string_view name = "arctic";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
