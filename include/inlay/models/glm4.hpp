// GLM 4: norms on both sides of each block, half of each head rotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)))
struct Glm4Layer {
  nn::RmsNorm attn_norm, post_attn_norm, mlp_norm, post_mlp_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  Glm4Layer(const nn::Weights& w, const nn::Metadata& m, int) : Glm4Layer(w, m, nn::Shape(m)) {}
  Glm4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        post_attn_norm(w, "post_attention_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        post_mlp_norm(w, "post_ffw_norm", s.dim, s.eps),
        attention(w, s.attention(w, m, m.has("rope.dimension_sections") ? nn::Pairing::halves : nn::Pairing::adjacent)),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    x += post_attn_norm(attention(attn_norm(x), i));
    x += post_mlp_norm(mlp(mlp_norm(x)));
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Glm4 : nn::Decoder<Glm4Layer> {
  static constexpr std::string_view name = "glm4";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
