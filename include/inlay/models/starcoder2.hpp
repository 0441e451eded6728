// StarCoder 2: layer norms, biases everywhere, and a plain MLP of GELU.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Starcoder2Layer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  Starcoder2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct Starcoder2 : nn::Decoder<Starcoder2Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "starcoder2";
  static constexpr std::string_view also[] = {"codeshell"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
