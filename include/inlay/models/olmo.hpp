// OLMo 1: Llama with layer norms that have no weights, and clamped projections.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct OlmoLayer : nn::PreNormLayer<nn::LayerNorm, nn::GatedMlp> {
  OlmoLayer(const nn::Weights& w, const nn::Metadata& m, int) : OlmoLayer(w, m, nn::Shape(m)) {}
  OlmoLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m);
    spec.clamp = m.real("attention.clamp_kqv", 0);
    return spec;
  }
};

struct Olmo : nn::Decoder<OlmoLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "olmo";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
