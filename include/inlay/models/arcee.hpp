// Arcee AFM: Llama with an MLP of squared ReLU and no gate.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct ArceeLayer : nn::PreNormLayer<nn::RmsNorm, nn::Mlp> {
  ArceeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::adjacent), nn::Mlp(w, s.dim, s.hidden, nn::Act::relu2)) {}
};

struct Arcee : nn::Decoder<ArceeLayer> {
  static constexpr std::string_view name = "arcee";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
