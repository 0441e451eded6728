// SmallThinker: experts chosen by what the layer begins with, and rotation in windowed layers only.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = x + attention(norm(x));  x = h + experts(norm(h)), routed by x
struct SmallThinkerLayer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::Moe experts;

  SmallThinkerLayer(const nn::Weights& w, const nn::Metadata& m, int i) : SmallThinkerLayer(w, m, nn::Shape(m), i) {}
  SmallThinkerLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, i)),
        experts(w, m, s, {.hidden = s.hidden, .normalise = true, .act = nn::Act::relu}) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto routed = x.step->route(experts.router(x), experts.route);
    x += attention(attn_norm(x), i);
    x += x.step->experts(mlp_norm(x), routed, experts.experts);
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    if (m.integer("attention.sliding_window", 0) == 0) return s.attention(w, m, nn::Pairing::halves);
    return s.attention_rotated_locally(w, m, nn::Pairing::halves, nn::windowed(m, i, 4, true));
  }
};

struct SmallThinker : nn::Decoder<SmallThinkerLayer> {
  static constexpr std::string_view name = "smallthinker";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
