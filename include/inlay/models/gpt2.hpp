// GPT-2, and StarCoder 1 and SantaCoder, which have one key/value head: layer norms, learned positions, an MLP of GELU.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Gpt2Layer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  Gpt2Layer(const nn::Weights& w, const nn::Metadata&, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention_unrotated(), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct Gpt2 : nn::Decoder<Gpt2Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "gpt2";
  static constexpr std::string_view also[] = {"starcoder"};
  nn::Tensor positions;
  Gpt2(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w), positions(nn::learned_positions(m, w, shape.dim)) {}

  nn::Tensor operator()(nn::Step& step) const { return decode(embed(step) + step.embed_positions(positions)); }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
