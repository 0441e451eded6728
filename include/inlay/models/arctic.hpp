// Snowflake Arctic: Llama with experts beside the MLP, which read what came before attention.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = x + attention(norm(x));  x = h + mlp(norm(h)) + experts(norm(x))
struct ArcticLayer : nn::LlamaLike {
  nn::RmsNorm experts_norm;
  nn::Moe experts;
  ArcticLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.dim)),
        experts_norm(w, "ffn_norm_exps", s.dim, s.eps),
        experts(w, m, s, {.hidden = s.hidden, .normalise = true}) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto routed = experts(experts_norm(x));
    x += attention(attn_norm(x), i);
    x += feed(mlp_norm(x)) + routed;
  }
};

struct Arctic : nn::Decoder<ArcticLayer> {
  static constexpr std::string_view name = "arctic";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
