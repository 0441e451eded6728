// StarCoder 1 and SantaCoder: GPT-2 with one key/value head.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct StarcoderLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  StarcoderLayer(const nn::Weights& w, const nn::Metadata& m, int) : StarcoderLayer(w, nn::Shape(m)) {}
  StarcoderLayer(const nn::Weights& w, const nn::Shape& s)
      : PreNormLayer(w, s, s.attention_unrotated(), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct Starcoder : nn::Decoder<StarcoderLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "starcoder";
  nn::Tensor positions;
  Starcoder(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w), positions(nn::learned_positions(m, w, shape.dim)) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    x += step.embed_positions(positions);
    step.through(layers, x);
    return head(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
