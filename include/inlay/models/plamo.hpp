// PLaMo: Llama with attention and MLP side by side behind one norm.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct PlamoLayer : nn::ParallelLayer<nn::RmsNorm, nn::GatedMlp> {
  PlamoLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ParallelLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Plamo : nn::Decoder<PlamoLayer> {
  static constexpr std::string_view name = "plamo";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
