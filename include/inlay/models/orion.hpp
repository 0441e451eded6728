// Orion: Llama with layer norms.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct OrionLayer : nn::PreNormLayer<nn::LayerNorm, nn::GatedMlp> {
  OrionLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Orion : nn::Decoder<OrionLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "orion";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
