// SmolLM 3: Llama without rotation on every fourth layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Smollm3Layer : nn::LlamaLike {
  Smollm3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, spec(w, m, s, (i + 1) % 4 != 0), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, bool rotated) {
    auto spec = s.attention(w, m);
    if (!rotated) spec.rope = {};
    return spec;
  }
};

struct Smollm3 : nn::Decoder<Smollm3Layer> {
  static constexpr std::string_view name = "smollm3";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
