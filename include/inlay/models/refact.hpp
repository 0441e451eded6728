// Refact: Llama with slopes over distances (ALiBi) instead of rotation.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct RefactLayer : nn::LlamaLike {
  RefactLayer(const nn::Weights& w, const nn::Metadata&, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention_sloped(w), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Refact : nn::Decoder<RefactLayer> {
  static constexpr std::string_view name = "refact";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
