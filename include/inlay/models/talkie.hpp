// Talkie: norms without gains, one gain for each head of the queries, and the embedding added again on every layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)) + s e, e being the normed embedding
struct TalkieLayer : nn::PreNormLayer<nn::UnitRms, nn::GatedMlp> {
  float again;
  TalkieLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)),
        again(*static_cast<const float*>(w("layer_output_scale.weight", {1}).view.data)) {
    attention.k_gain = w.constant(std::vector<float>(std::size_t(s.head_dim), 1.f));
  }

  void operator()(nn::Tensor& x, const nn::Tensor& embedding, int i) const {
    PreNormLayer::operator()(x, i);
    x = x.step->binary(INLAY_BINARY_ADD, x, embedding, again, true);
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.norm_after_rope = true;
    return spec;
  }
};

struct Talkie : nn::Decoder<TalkieLayer, nn::UnitRms> {
  static constexpr std::string_view name = "talkie";
  Talkie(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) { head.scale = m.real("logit_scale"); }

  nn::Tensor operator()(nn::Step& step) const {
    const auto embedding = head.norm(embed(step));
    auto x = step.scratch({embedding.rows(), embedding.cols()});
    step.copy(embedding, x);
    return decode(x, embedding);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
