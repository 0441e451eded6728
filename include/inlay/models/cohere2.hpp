// Cohere Command R7B: Command R with three windowed, rotated layers for each one that sees everything unrotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct Cohere2Layer : nn::ParallelLayer<nn::LayerNorm, nn::GatedMlp> {
  Cohere2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : ParallelLayer(w, s, s.attention_rotated_locally(w, m, nn::Pairing::adjacent, nn::windowed(m, i, 4)),
                      nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Cohere2 : nn::Decoder<Cohere2Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "cohere2";
  Cohere2(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) { head.scale = m.real("logit_scale"); }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
