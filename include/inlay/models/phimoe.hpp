// Phi 3.5 MoE: Phi 3 with layer norms, biases, and two experts chosen one after the other (Liu et al. 2023).
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x))
struct PhimoeLayer : nn::PreNormLayer<nn::LayerNorm, nn::Moe> {
  PhimoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::Moe(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SPARSE_MIXER})) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.attend.window = m.integer("attention.sliding_window", 0);
    return spec;
  }
};

struct Phimoe : nn::Decoder<PhimoeLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "phimoe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
