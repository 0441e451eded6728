// Qwen 3 MoE: Qwen 3 with experts on every layer, their weights normalised.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Qwen3MoeLayer : nn::MoeLike {
  Qwen3MoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves),
                     nn::FeedForward(w, m, s, {.hidden = s.hidden, .normalise = true})) {}
};

struct Qwen3Moe : nn::Decoder<Qwen3MoeLayer> {
  static constexpr std::string_view name = "qwen3moe";
  static constexpr std::string_view also[] = {"qwen3vlmoe"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
