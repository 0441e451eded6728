// EXAONE with experts: windowed layers that rotate beside layers that see everything and do not.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct ExaoneMoeLayer : nn::MoeLike {
  ExaoneMoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention_rotated_locally(w, m, nn::Pairing::halves, nn::windowed(m, i, 4)),
                     nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID})) {}
};

struct ExaoneMoe : nn::Decoder<ExaoneMoeLayer> {
  static constexpr std::string_view name = "exaone-moe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
