// Gemma 3n: four streams of which a layer works on one (AltUp, Baykal et al. 2023), an input for each layer, and late
// layers that look at the keys and values of earlier ones.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// y = down(gelu(gate(x)) * up(x)); early layers keep of gate(x) what exceeds its mean by some deviations.
struct Gemma3nMlp {
  nn::Linear gate, up, down;
  nn::Tensor threshold;  ///< -deviations, [hidden]; none: everything is kept

  Gemma3nMlp(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : gate(w, "ffn_gate", s.dim, s.hidden), up(w, "ffn_up", s.dim, s.hidden), down(w, "ffn_down", s.hidden, s.dim) {
    const float usual = i < 10 ? 1.6448536f : 0;  // the 95th percentile
    const float deviations = m.threshold("activation_sparsity_scale", i, usual);
    if (deviations > 0) threshold = w.constant(std::vector<float>(std::size_t(s.hidden), -deviations));
  }
  nn::Tensor operator()(const nn::Tensor& x) const {
    auto& step = *x.step;
    auto g = gate(x);
    if (threshold)
      g = step.glu(nn::Act::relu, step.norm(INLAY_NORM_LAYER, g, {}, threshold, 0), {}) *
          step.size(INLAY_NORM_SPREAD, g);
    return down(step.glu(nn::Act::gelu_tanh, g, up(x)));
  }
};

/// p = predicted streams;  z = p_0 + attention + laurel, then + mlp;  p is corrected by z, and gets the layer's own
/// input
struct Gemma3nLayer {
  nn::AltUp altup;
  nn::RmsNorm attn_norm, post_attn_norm, mlp_norm, post_mlp_norm, laurel_norm;
  nn::Linear laurel_l, laurel_r;
  nn::BorrowingAttention attention;
  Gemma3nMlp mlp;
  nn::PerLayerGate own;
  nn::Tensor correct_scale;

  Gemma3nLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : altup(w, s), attention(attention_of(w, m, s, i)), mlp(w, m, s, i), own(w, s) {
    const auto norm = [&](const char* name) { return nn::RmsNorm(w, name, s.dim, s.eps); };
    attn_norm = norm("attn_norm"), post_attn_norm = norm("post_attention_norm"), laurel_norm = norm("laurel_post_norm");
    mlp_norm = norm("ffn_norm"), post_mlp_norm = norm("post_ffw_norm");
    const auto rank = w.has("laurel_l.weight") ? w.shape("laurel_l.weight")[0] : 64;
    laurel_l = nn::Linear(w, "laurel_l", s.dim, rank), laurel_r = nn::Linear(w, "laurel_r", rank, s.dim);
    correct_scale = w("altup_correct_scale.weight", {1, s.dim});
  }

  void operator()(nn::Tensor& x, const nn::Tensor& inputs, int i) const {
    const auto p = altup.predict(x), h = attn_norm(altup.stream(p, 0));
    auto z = altup.stream(p, 0) + post_attn_norm(attention(h));
    z += h;
    z += laurel_norm(laurel_r(laurel_l(h)));
    z *= std::sqrt(0.5f);
    z += post_mlp_norm(mlp(mlp_norm(z)));
    altup.correct(p, z);
    const auto input = own(altup.stream(p, 0) * correct_scale, inputs, i);
    for (std::int64_t j = 1; j < altup.streams; ++j) {
      auto stream = altup.stream(p, j);
      stream += input;
    }
    x.step->copy(p, x);
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::BorrowingAttention attention_of(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const auto windowed = [&](int layer) { return nn::windowed(m, layer, 5); };
    const bool local = windowed(i);
    const int keeper = nn::lender(m, s, i, 20, windowed);
    const auto spec =
        local ? s.attention_windowed(w, m, nn::Pairing::halves, 10000, false) : s.attention(w, m, nn::Pairing::halves);
    return {w, s, spec, keeper != i, keeper};
  }
};

struct Gemma3n : nn::Decoder<Gemma3nLayer> {
  static constexpr std::string_view name = "gemma3n";
  nn::AltUpEnds ends;
  nn::PerLayerInputs inputs;
  Gemma3n(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w), ends(w, shape.dim), inputs(w, shape) {
    embed.scale = std::sqrt(float(shape.dim));
    head.softcap = m.real("final_logit_softcapping", 30);
  }

  nn::Tensor operator()(nn::Step& step) const {
    const auto x = embed(step);
    auto streams = ends.streams(x);
    step.through(layers, streams, inputs(x));
    if (step.wanted() == 0) return head.norm(ends.mean(streams));
    return head.of_picked(ends.mean(step.pick_wanted(streams)));
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
