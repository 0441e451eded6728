// Phi 1, 1.5 and 2: attention and MLP read the same normed input and are added together.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct Phi2Layer : nn::ParallelLayer<nn::LayerNorm, nn::Mlp> {
  Phi2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ParallelLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct Phi2 : nn::Decoder<Phi2Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "phi2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
