// OLMo 1: Llama with layer norms that have no weights, and clamped projections.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct OlmoLayer : nn::PreNormLayer<nn::PlainLayerNorm, nn::GatedMlp> {
  OlmoLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Olmo : nn::Decoder<OlmoLayer, nn::PlainLayerNorm> {
  static constexpr std::string_view name = "olmo";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
