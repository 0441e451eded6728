// AFMoE (Arcee Trinity): gated attention, rotation in windowed layers only, and norms on both sides of every block.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(experts(norm(x))), or an MLP on the first layers
struct AfmoeLayer : nn::SandwichLayer<nn::FeedForward, nn::GatedAttention> {
  AfmoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(
            w, s,
            nn::GatedAttention(w, s.attention_rotated_locally(w, m, nn::Pairing::halves, nn::windowed(m, i, 4)),
                               nn::Act::sigmoid),
            nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID}, i >= m.integer("leading_dense_block_count", 0))) {
  }
};

struct Afmoe : nn::Decoder<AfmoeLayer> {
  static constexpr std::string_view name = "afmoe";
  Afmoe(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) { embed.scale = std::sqrt(float(shape.dim)); }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
