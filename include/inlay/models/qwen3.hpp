// Qwen 3: Llama with queries and keys normed in every head.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Qwen3Layer : nn::LlamaLike {
  Qwen3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Qwen3 : nn::Decoder<Qwen3Layer> {
  static constexpr std::string_view name = "qwen3";
  static constexpr std::string_view also[] = {"openelm", "qwen3vl"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
