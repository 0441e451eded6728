// Nemotron: layer norms, partial rotation, and an MLP of squared ReLU.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct NemotronLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  NemotronLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::Mlp(w, s.dim, s.hidden, nn::Act::relu2)) {}
};

struct Nemotron : nn::Decoder<NemotronLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "nemotron";
  static constexpr std::string_view also[] = {"jais2"};
  Nemotron(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w, nn::Shape(m, nn::Eps::layer)) {}
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
