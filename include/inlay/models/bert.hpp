// BERT, RoBERTa and their kin: an encoder with norms behind the blocks and learned positions.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x = norm(x + attention(x));  x = norm(x + mlp(x))
struct BertLayer {
  nn::Attention attention;
  nn::Mlp mlp;
  nn::LayerNorm attn_norm, mlp_norm;

  BertLayer(const nn::Weights& w, const nn::Metadata& m, int) : BertLayer(w, nn::Shape(m)) {}
  BertLayer(const nn::Weights& w, const nn::Shape& s)
      : attention(w, s.encoder_attention()),
        mlp(w, s.dim, s.hidden, nn::Act::gelu),
        attn_norm(w, "attn_output_norm", s.dim, s.eps),
        mlp_norm(w, "layer_output_norm", s.dim, s.eps) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(x, i);
    x.step->copy(attn_norm(x), x);
    x += mlp(x);
    x.step->copy(mlp_norm(x), x);
  }
};

struct Bert : nn::Encoder<BertLayer> {
  static constexpr std::string_view name = "bert";
  nn::Tensor types, positions;
  nn::LayerNorm norm;
  Bert(const nn::Metadata& m, const nn::Weights& w)
      : Encoder(m, w),
        types(nn::first_row(w, "token_types.weight", shape.dim)),
        positions(nn::learned_positions(m, w, shape.dim)),
        norm(w, "token_embd_norm", shape.dim, shape.eps) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    if (types) x += types;
    x += step.embed_positions(positions);
    x = norm(x);
    step.through(layers, x);
    return x;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
