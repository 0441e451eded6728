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

struct Bert : nn::Encoder<BertLayer> {
  static constexpr std::string_view name = "bert";
  nn::TokenTypes types;
  nn::Tensor positions;
  nn::LayerNorm norm;
  Bert(const nn::Metadata& m, const nn::Weights& w)
      : Encoder(m, w),
        types(w, shape.dim),
        positions(nn::learned_positions(m, w, shape.dim)),
        norm(w, "token_embd_norm", shape.dim, shape.eps) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    types.add_to(x);
    x += step.embed_positions(positions);
    x = norm(x);
    step.through(layers, x);
    return x;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
