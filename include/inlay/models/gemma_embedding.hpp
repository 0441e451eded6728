// EmbeddingGemma: the layers of Gemma 3 without a causal mask, and up to two matrices behind them.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)))
struct GemmaEmbeddingLayer : nn::SandwichLayer<nn::GatedMlp> {
  GemmaEmbeddingLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(w, s, nn::Attention(w, spec(w, m, s, i)), nn::GatedMlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = m.integer("attention.sliding_window", 0) > 0 && nn::windowed(m, i, 6);
    return nn::both_ways(local ? s.attention_windowed(w, m, nn::Pairing::halves, 10000, false)
                               : s.attention(w, m, nn::Pairing::halves));
  }
};

struct GemmaEmbedding : nn::Encoder<GemmaEmbeddingLayer> {
  static constexpr std::string_view name = "gemma-embedding";
  nn::RmsNorm norm;
  nn::Linear dense_2, dense_3;  // behind the mean over tokens, or, being linear, before it
  GemmaEmbedding(const nn::Metadata& m, const nn::Weights& w)
      : Encoder(m, w), norm(w, "output_norm", shape.dim, shape.eps) {
    embed.scale = std::sqrt(float(shape.dim));
    const auto middle = m.integer("dense_2_feat_out", shape.dim);
    dense_2 = nn::Linear::maybe(w, "dense_2", m.integer("dense_2_feat_in", shape.dim), middle);
    dense_3 =
        nn::Linear::maybe(w, "dense_3", m.integer("dense_3_feat_in", middle), m.integer("dense_3_feat_out", shape.dim));
  }

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    step.through(layers, x);
    x = norm(x);
    if (dense_2) x = dense_2(x);
    return dense_3 ? dense_3(x) : x;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
