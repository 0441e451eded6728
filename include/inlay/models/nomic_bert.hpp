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

struct NomicBert : nn::TypedEncoder<NomicBertLayer> {
  static constexpr std::string_view name = "nomic-bert";
  using TypedEncoder::TypedEncoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
