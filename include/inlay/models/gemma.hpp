// Gemma: Llama with GELU and a scaled embedding.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct GemmaLayer : nn::LlamaLike {
  GemmaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves),
                     nn::GatedMlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct Gemma : nn::Decoder<GemmaLayer> {
  static constexpr std::string_view name = "gemma";
  Gemma(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) { embed.scale = std::sqrt(float(shape.dim)); }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
