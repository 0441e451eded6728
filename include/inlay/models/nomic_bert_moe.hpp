// Nomic BERT with experts, and Jina BERT 3: BERT with rotation instead of positions.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x = norm(x + attention(x));  x = norm(x + mlp(x)), or experts on the layers that have a router
struct RotatedBertLayer {
  nn::Attention attention;
  std::optional<nn::Mlp> mlp;
  nn::Moe experts;
  nn::LayerNorm attn_norm, mlp_norm;

  RotatedBertLayer(const nn::Weights& w, const nn::Metadata& m, int) : RotatedBertLayer(w, m, nn::Shape(m)) {}
  RotatedBertLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attention(w, spec(w, m, s)),
        attn_norm(w, "attn_output_norm", s.dim, s.eps),
        mlp_norm(w, "layer_output_norm", s.dim, s.eps) {
    if (w.has("ffn_gate_inp.weight"))
      experts = nn::Moe(w, m, s, {.hidden = s.hidden, .act = nn::Act::gelu, .gated = false});
    else
      mlp.emplace(w, s.dim, s.hidden, nn::Act::gelu);
  }

  void operator()(nn::Tensor& x, int i) const {
    x += attention(x, i);
    x.step->copy(attn_norm(x), x);
    x += mlp ? (*mlp)(x) : experts(x);
    x.step->copy(mlp_norm(x), x);
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.encoder_attention();
    spec.rope = s.rope(w, m, nn::Pairing::halves);
    return spec;
  }
};

struct NomicBertMoe : nn::TypedEncoder<RotatedBertLayer> {
  static constexpr std::string_view name = "nomic-bert-moe";
  using TypedEncoder::TypedEncoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
