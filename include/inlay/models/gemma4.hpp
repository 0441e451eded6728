// Gemma 4: heads of two sizes, late layers that look at the keys of earlier ones, an input for each layer, and in some
// files experts beside the MLP.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// norm(mlp) + norm(experts(norm(x))), routed by norm(x) / sqrt(dim)
struct Gemma4Experts {
  nn::RmsNorm mlp_norm, norm, post_norm;
  nn::RmsNorm router_norm;
  nn::Moe experts;
  Gemma4Experts(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : mlp_norm(w, "post_ffw_norm_1", s.dim, s.eps),
        norm(w, "pre_ffw_norm_2", s.dim, s.eps),
        post_norm(w, "post_ffw_norm_2", s.dim, s.eps),
        experts(w, m, s, {.normalise = true, .act = nn::Act::gelu_tanh}) {
    router_norm.gain = w("ffn_gate_inp.scale", {s.dim}), router_norm.eps = s.eps;
    experts.router.scale = 1 / std::sqrt(float(s.dim));
  }
  nn::Tensor operator()(const nn::Tensor& x, const nn::Tensor& mlp) const {
    return mlp_norm(mlp) + post_norm(experts(norm(x), router_norm(x)));
  }
};

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)));  x += input of the layer's own;  x *= scale
struct Gemma4Layer {
  nn::RmsNorm attn_norm, post_attn_norm, mlp_norm, post_mlp_norm;
  nn::BorrowingAttention attention;
  nn::GatedMlp mlp;
  std::optional<Gemma4Experts> experts;
  std::optional<nn::PerLayerGate> own;
  float scale = 1;

  Gemma4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : Gemma4Layer(w, m, i, shape_of(m, s, i)) {}
  Gemma4Layer(const nn::Weights& w, const nn::Metadata& m, int i, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        post_attn_norm(w, "post_attention_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        post_mlp_norm(w, "post_ffw_norm", s.dim, s.eps),
        attention(attention_of(w, m, s, i)),
        mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh) {
    if (m.has("expert_count")) experts.emplace(w, m, s);
    if (m.integer("embedding_length_per_layer_input", 0) > 0) own.emplace(w, s);
    if (const auto factor = w.maybe("layer_output_scale.weight", {1}))
      scale = *static_cast<const float*>(factor.view.data);
  }

  void operator()(nn::Tensor& x, const nn::Tensor& inputs, int i) const {
    x += post_attn_norm(attention(attn_norm(x)));
    const auto f = mlp(mlp_norm(x));
    x += post_mlp_norm(experts ? (*experts)(x, f) : f);
    if (own) x += (*own)(x, inputs, i);
    if (scale != 1) x *= scale;
  }

  nn::Cache cache() const { return attention.cache(); }

  static bool windowed(const nn::Metadata& m, int i) { return nn::windowed(m, i, 6); }
  static nn::Shape shape_of(const nn::Metadata& m, nn::Shape s, int i) {
    if (!windowed(m, i)) return s;
    s.head_dim = m.integer("attention.key_length_swa", s.head_dim);
    s.value_dim = m.integer("attention.value_length_swa", s.head_dim);
    s.rope_dims = m.integer("rope.dimension_count_swa", s.head_dim);
    if (s.head_dim < 1 || s.rope_dims < 0 || s.rope_dims % 2 || s.rope_dims > s.head_dim)
      m.refuse("attention.key_length_swa", "does not fit rope.dimension_count_swa");
    return s;
  }
  static nn::BorrowingAttention attention_of(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = windowed(m, i);
    const int keeper = nn::lender(m, s, i, s.layers, [&](int layer) { return windowed(m, layer); });
    const auto spec =
        local ? s.attention_windowed(w, m, nn::Pairing::halves, 10000, false) : s.attention(w, m, nn::Pairing::halves);
    return {w, s, spec, keeper != i, keeper};
  }
};

struct Gemma4 : nn::Decoder<Gemma4Layer> {
  static constexpr std::string_view name = "gemma4";
  std::optional<nn::PerLayerInputs> inputs;
  Gemma4(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    embed.scale = std::sqrt(float(shape.dim));
    head.softcap = m.real("final_logit_softcapping", 0);
    if (m.integer("embedding_length_per_layer_input", 0) > 0) inputs.emplace(w, shape);
  }

  nn::Tensor operator()(nn::Step& step) const {
    const auto x = embed(step);
    return decode(x, inputs ? (*inputs)(x) : nn::Tensor());
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
