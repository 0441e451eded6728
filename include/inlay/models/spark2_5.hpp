// Spark 2.5: Llama with one gate for each head, and windowed layers with a rotation of their own.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Spark25Layer : nn::PreNormLayer<nn::RmsNorm, nn::GatedMlp, nn::GatedAttention> {
  Spark25Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, nn::GatedAttention(w, spec(w, m, s, i), nn::Act::sigmoid),
                     nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    return m.flag("attention.sliding_window_pattern", i, false)
               ? s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, true)
               : s.attention(w, m, nn::Pairing::halves);
  }
};

struct Spark25 : nn::Decoder<Spark25Layer> {
  static constexpr std::string_view name = "spark2_5";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
