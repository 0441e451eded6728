// Cohere Command R: attention and MLP read the same normed input and are added together.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct CommandRLayer : nn::ParallelLayer<nn::LayerNorm, nn::GatedMlp> {
  CommandRLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ParallelLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m);
    spec.norm = INLAY_NORM_LAYER;
    return spec;
  }
};

struct CommandR : nn::Decoder<CommandRLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "command-r";
  CommandR(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) { head.scale = m.real("logit_scale"); }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
