// Qwen 2 and 2.5: Llama with biases on queries, keys and values.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Qwen2Layer : nn::LlamaLike {
  Qwen2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Qwen2 : nn::Decoder<Qwen2Layer> {
  static constexpr std::string_view name = "qwen2";
  static constexpr std::string_view also[] = {"cogvlm", "exaone", "paddleocr", "pangu-embedded", "qwen2vl"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
