// BERT, RoBERTa and their kin: an encoder with norms behind the blocks and learned positions.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x = norm(x + attention(x));  x = norm(x + mlp(x))
struct BertLayer : nn::BertLikeLayer<nn::Mlp> {
  BertLayer(const nn::Weights& w, const nn::Metadata&, const nn::Shape& s, int)
      : BertLikeLayer(w, s, s.encoder_attention(), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu)) {}
};

struct Bert : nn::TypedEncoder<BertLayer> {
  static constexpr std::string_view name = "bert";
  nn::Tensor positions;
  Bert(const nn::Metadata& m, const nn::Weights& w)
      : TypedEncoder(m, w), positions(nn::learned_positions(m, w, shape.dim)) {}

  nn::Tensor operator()(nn::Step& step) const { return encode(embed(step) + step.embed_positions(positions)); }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
