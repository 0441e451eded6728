// Nomic BERT: BERT with rotation instead of positions, and a gated MLP.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x = norm(x + attention(x));  x = norm(x + mlp(x))
struct NomicBertLayer {
  nn::Attention attention;
  nn::GatedMlp mlp;
  nn::LayerNorm attn_norm, mlp_norm;

  NomicBertLayer(const nn::Weights& w, const nn::Metadata& m, int) : NomicBertLayer(w, m, nn::Shape(m)) {}
  NomicBertLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attention(w, spec(w, m, s)),
        mlp(w, s.dim, s.hidden),
        attn_norm(w, "attn_output_norm", s.dim, s.eps),
        mlp_norm(w, "layer_output_norm", s.dim, s.eps) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(x, i);
    x.step->copy(attn_norm(x), x);
    x += mlp(x);
    x.step->copy(mlp_norm(x), x);
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.encoder_attention();
    spec.rope = s.rope(w, m, nn::Pairing::halves);
    return spec;
  }
};

struct NomicBert : nn::Encoder<NomicBertLayer> {
  static constexpr std::string_view name = "nomic-bert";
  nn::Tensor types;
  nn::LayerNorm norm;
  NomicBert(const nn::Metadata& m, const nn::Weights& w)
      : Encoder(m, w),
        types(nn::first_row(w, "token_types.weight", shape.dim)),
        norm(w, "token_embd_norm", shape.dim, shape.eps) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    if (types) x += types;
    x = norm(x);
    step.through(layers, x);
    return x;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
