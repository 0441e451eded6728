// Cohere Command R: attention and MLP read the same normed input and are added together.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct CommandRLayer {
  nn::LayerNorm norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  CommandRLayer(const nn::Weights& w, const nn::Metadata& m, int) : CommandRLayer(w, m, nn::Shape(m)) {}
  CommandRLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : norm(w, "attn_norm", s.dim, s.eps), attention(w, spec(w, m, s)), mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = norm(x);
    x += attention(h, i) + mlp(h);
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m);
    spec.norm = INLAY_NORM_LAYER;
    return spec;
  }
};

struct CommandR : nn::Decoder<CommandRLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "command-r";
  float logit_scale;
  CommandR(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w), logit_scale(m.real("logit_scale")) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto logits = Decoder::operator()(step);
    return logits *= logit_scale;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
