// DBRX: layer norms without biases, clamped queries, keys and values, and experts on every layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x))
struct DbrxLayer : nn::PreNormLayer<nn::LayerNorm, nn::Moe> {
  DbrxLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves),
                     nn::Moe(w, m, s, {.hidden = s.hidden, .normalise = true}), "attn_output_norm") {}
};

struct Dbrx : nn::Decoder<DbrxLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "dbrx";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
