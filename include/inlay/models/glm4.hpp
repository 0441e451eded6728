// GLM 4: norms on both sides of each block, half of each head rotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)))
struct Glm4Layer : nn::SandwichLayer<nn::GatedMlp> {
  Glm4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : SandwichLayer(w, s, nn::Attention(w, s.attention(w, m, pairing(m))), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Pairing pairing(const nn::Metadata& m) {
    return m.has("rope.dimension_sections") ? nn::Pairing::halves : nn::Pairing::adjacent;
  }
};

struct Glm4 : nn::Decoder<Glm4Layer> {
  static constexpr std::string_view name = "glm4";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
