// dots.llm1: normed queries and keys, sigmoid experts chosen with a bias after the first layers, and one shared by all.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct Dots1Layer : nn::MoeLike {
  Dots1Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves),
                     nn::FeedForward(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SIGMOID})) {}
};

struct Dots1 : nn::Decoder<Dots1Layer> {
  static constexpr std::string_view name = "dots1";
  static constexpr std::string_view also[] = {"bailingmoe2", "hy_v3"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
