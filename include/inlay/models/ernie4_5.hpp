// ERNIE 4.5: Llama under another name.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Ernie45Layer : nn::LlamaLike {
  Ernie45Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::adjacent), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Ernie45 : nn::Decoder<Ernie45Layer> {
  static constexpr std::string_view name = "ernie4_5";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
