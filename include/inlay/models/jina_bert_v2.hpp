// Jina BERT 2: BERT with slopes over distances instead of positions, and a gated MLP.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x = norm(x + attention(x)), in some files x = norm(that + x) again;  x = norm(x + mlp(x))
struct JinaBertV2Layer {
  nn::Attention attention;
  nn::Linear up, down;
  nn::GatedMlp mlp;
  nn::LayerNorm attn_norm, second_norm, mlp_norm;

  JinaBertV2Layer(const nn::Weights& w, const nn::Metadata&, const nn::Shape& s, int)
      : attention(w, spec(w, s)),
        attn_norm(w, "attn_output_norm", s.dim, s.eps),
        second_norm(nn::LayerNorm::maybe(w, "attn_norm_2", s.dim, s.eps)),
        mlp_norm(w, "layer_output_norm", s.dim, s.eps) {
    const auto shape = w.shape("ffn_up.weight");
    if (w.has("ffn_gate.weight") || (!shape.empty() && shape[0] == 2 * s.hidden))
      mlp = nn::GatedMlp(w, s.dim, s.hidden, nn::Act::gelu);
    else
      up = nn::Linear(w, "ffn_up", s.dim, s.hidden), down = nn::Linear(w, "ffn_down", s.hidden, s.dim);
  }

  void operator()(nn::Tensor& x, int i) const {
    auto& step = *x.step;
    auto h = attn_norm(x + attention(x, i));
    if (second_norm) h = second_norm(h + x);
    step.copy(mlp_norm(h + (up ? down(step.glu(nn::Act::gelu, up(h), {})) : mlp(h))), x);
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Shape& s) {
    auto spec = s.encoder_attention();
    spec.attend.slopes = w.constant(nn::alibi_slopes(s.heads));
    spec.norm = INLAY_NORM_LAYER;
    return spec;
  }
};

struct JinaBertV2 : nn::TypedEncoder<JinaBertV2Layer> {
  static constexpr std::string_view name = "jina-bert-v2";
  using TypedEncoder::TypedEncoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
