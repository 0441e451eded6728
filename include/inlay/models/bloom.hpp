// BLOOM: layer norms, ALiBi instead of positions, and a normed embedding.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct BloomLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  BloomLayer(const nn::Weights& w, const nn::Metadata&, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention_sloped(w), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct Bloom : nn::NormedDecoder<BloomLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "bloom";
  using NormedDecoder::NormedDecoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
