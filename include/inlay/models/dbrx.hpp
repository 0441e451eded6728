// DBRX: layer norms without biases, clamped queries, keys and values, and experts on every layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x))
struct DbrxLayer {
  nn::LayerNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::Moe mlp;

  DbrxLayer(const nn::Weights& w, const nn::Metadata& m, int) : DbrxLayer(w, m, nn::Shape(m)) {}
  DbrxLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "attn_output_norm", s.dim, s.eps),
        attention(w, spec(w, m, s)),
        mlp(w, m, s, {.hidden = s.hidden, .normalise = true}) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.clamp = m.real("attention.clamp_kqv", 0);
    return spec;
  }
};

struct Dbrx : nn::Decoder<DbrxLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "dbrx";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
