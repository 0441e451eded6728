// GLM 4 MoE: sigmoid experts chosen with a bias after the first layers, and one shared by all tokens.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct Glm4MoeLayer : nn::MoeLike {
  Glm4MoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves),
                     nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID, .normalise = true},
                                     i >= m.integer("leading_dense_block_count", 0)),
                     "post_attention_norm") {}
};

struct Glm4Moe : nn::Decoder<Glm4MoeLayer> {
  static constexpr std::string_view name = "glm4moe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
