// Phi 3 and 4: Llama with fused projections and LongRoPE; a window on every layer where the file states one.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Phi3Layer : nn::LlamaLike {
  Phi3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.attend.window = m.integer("attention.sliding_window", 0);
    return spec;
  }
};

struct Phi3 : nn::Decoder<Phi3Layer> {
  static constexpr std::string_view name = "phi3";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
