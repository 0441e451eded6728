// Qwen, the first: Llama with biases on queries, keys and values, and an MLP half as wide as its file says.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct QwenLayer : nn::LlamaLike {
  QwenLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden / 2)) {}
};

struct Qwen : nn::Decoder<QwenLayer> {
  static constexpr std::string_view name = "qwen";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
