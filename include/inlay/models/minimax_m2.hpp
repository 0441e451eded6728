// MiniMax M2: queries and keys normed over the whole width, sigmoid experts chosen with a bias, partial rotation.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct MinimaxM2Layer : nn::MoeLike {
  MinimaxM2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves),
                     nn::FeedForward(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SIGMOID, .normalise = true})) {
  }
};

struct MinimaxM2 : nn::Decoder<MinimaxM2Layer> {
  static constexpr std::string_view name = "minimax-m2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
