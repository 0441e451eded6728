// Ministral 3 and Mistral Small 3: Llama with YaRN and queries that grow with the position.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Mistral3Layer : nn::LlamaLike {
  Mistral3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.hidden)) {
    attention.temperature = nn::temperatures(w, m, "rope.scaling.original_context_length");
  }
};

struct Mistral3 : nn::Decoder<Mistral3Layer> {
  static constexpr std::string_view name = "mistral3";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
