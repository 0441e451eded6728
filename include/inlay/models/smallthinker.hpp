// SmallThinker: experts chosen by what the layer begins with, and rotation in windowed layers only.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = x + attention(norm(x));  x = h + experts(norm(h)), routed by x
struct SmallThinkerLayer : nn::PreNormLayer<nn::RmsNorm, nn::Moe> {
  SmallThinkerLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, spec(w, m, s, i),
                     nn::Moe(w, m, s, {.hidden = s.hidden, .normalise = true, .act = nn::Act::relu})) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto routed = x.step->route(feed.router(x), feed.route);
    x += attention(attn_norm(x), i);
    x += x.step->experts(mlp_norm(x), routed, feed.experts);
  }

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
