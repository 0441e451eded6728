// GPT-J: attention and MLP read the same normed input, and a part of each head is rotated in adjacent pairs.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct GptJLayer : nn::ParallelLayer<nn::LayerNorm, nn::Mlp> {
  GptJLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ParallelLayer(w, s, s.attention(w, m), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}
};

struct GptJ : nn::Decoder<GptJLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "gptj";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
