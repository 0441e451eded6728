// OLMoE: queries and keys normed over the whole width; experts on every layer, not normalised.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct OlmoeLayer : nn::MoeLike {
  OlmoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::FeedForward(w, m, s, {.hidden = s.hidden})) {}
};

struct Olmoe : nn::Decoder<OlmoeLayer> {
  static constexpr std::string_view name = "olmoe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
