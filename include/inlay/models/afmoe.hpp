// AFMoE (Arcee Trinity): gated attention, rotation in windowed layers only, and norms on both sides of every block.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(experts(norm(x))), or an MLP on the first layers
struct AfmoeLayer : nn::SandwichLayer<nn::FeedForward, nn::GatedAttention> {
  AfmoeLayer(const nn::Weights& w, const nn::Metadata& m, int i) : AfmoeLayer(w, m, nn::Shape(m), i) {}
  AfmoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(
            w, s, nn::GatedAttention(w, spec(w, m, s, i), nn::Act::sigmoid),
            nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID}, i >= m.integer("leading_dense_block_count", 0))) {
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const int window = m.integer("attention.sliding_window", 0);
    if (!nn::windowed(m, i, 4)) return s.attention_unrotated();
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.attend.window = window;
    return spec;
  }
};

struct Afmoe : nn::Decoder<AfmoeLayer> {
  static constexpr std::string_view name = "afmoe";
  using Decoder::Decoder;

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    x *= std::sqrt(float(shape.dim));
    step.through(layers, x);
    return head(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
