// Gemma 3: Gemma 2 with normed queries and keys, and five windowed layers for each one that sees everything.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)))
struct Gemma3Layer : nn::SandwichLayer<nn::GatedMlp> {
  Gemma3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(w, s, nn::Attention(w, spec(w, m, s, i)), nn::GatedMlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = m.integer("attention.sliding_window", 0) > 0 && nn::windowed(m, i, 6);
    auto spec =
        local ? s.attention_windowed(w, m, nn::Pairing::halves, 10000, false) : s.attention(w, m, nn::Pairing::halves);
    if (s.layers == 62) spec.attend.scale = 1 / std::sqrt(float(s.dim) / float(s.heads));  // the 27B model
    return spec;
  }
};

struct Gemma3 : nn::Decoder<Gemma3Layer> {
  static constexpr std::string_view name = "gemma3";
  Gemma3(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    embed.scale = std::sqrt(float(shape.dim));
    head.softcap = m.real("final_logit_softcapping", 0);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
