// Gemma 2: norms on both sides of each block, softcaps, and every other layer behind a window.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)))
struct Gemma2Layer : nn::SandwichLayer<nn::GatedMlp> {
  Gemma2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(w, s, nn::Attention(w, spec(w, m, s, i)), nn::GatedMlp(w, s.dim, s.hidden, nn::Act::gelu_tanh)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    if (s.layers == 46) spec.attend.scale = 1 / std::sqrt(float(s.dim) / float(s.heads));  // the 27B model
    spec.attend.softcap = m.real("attn_logit_softcapping", 50);
    if (nn::windowed(m, i, 2)) spec.attend.window = m.integer("attention.sliding_window", 4096);
    return spec;
  }
};

struct Gemma2 : nn::Decoder<Gemma2Layer> {
  static constexpr std::string_view name = "gemma2";
  Gemma2(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    embed.scale = std::sqrt(float(shape.dim));
    head.softcap = m.real("final_logit_softcapping", 30);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
