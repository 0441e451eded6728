// Laguna: gated attention, heads and rotations that differ between windowed layers and those that see everything.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct LagunaLayer : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::GatedAttention> {
  LagunaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(
            w, s, nn::GatedAttention(w, spec(w, m, s, i), nn::Act::softplus),
            nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID}, i >= m.integer("leading_dense_block_count"))) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, nn::Shape s, int i) {
    if (m.integer("attention.sliding_window", 0) == 0 || !nn::windowed(m, i, 4, true))
      return s.attention(w, m, nn::Pairing::halves);
    s.rope_dims = m.integer("rope.dimension_count_swa", s.rope_dims);
    if (s.rope_dims < 0 || s.rope_dims % 2 || s.rope_dims > s.head_dim)
      m.refuse("rope.dimension_count_swa", "does not fit a head");
    return s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, false);
  }
};

struct Laguna : nn::Decoder<LagunaLayer> {
  static constexpr std::string_view name = "laguna";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
