// Cohere Command R7B: Command R with three windowed, rotated layers for each one that sees everything unrotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct Cohere2Layer {
  nn::LayerNorm norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  Cohere2Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Cohere2Layer(w, m, nn::Shape(m), i) {}
  Cohere2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : norm(w, "attn_norm", s.dim, s.eps), attention(w, spec(w, m, s, i)), mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = norm(x);
    x += attention(h, i) + mlp(h);
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    if (!nn::windowed(m, i, 4)) return s.attention_unrotated();
    auto spec = s.attention(w, m);
    spec.attend.window = m.integer("attention.sliding_window");
    return spec;
  }
};

struct Cohere2 : nn::Decoder<Cohere2Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "cohere2";
  float logit_scale;
  Cohere2(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w), logit_scale(m.real("logit_scale")) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto logits = Decoder::operator()(step);
    return logits *= logit_scale;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
