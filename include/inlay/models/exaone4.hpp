// EXAONE 4: norms behind the blocks; with windows, only the windowed layers are rotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(x));  x += norm(mlp(x))
struct Exaone4Layer : nn::PostNormLayer {
  Exaone4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PostNormLayer(w, s, spec(w, m, s, i)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    if (m.integer("attention.sliding_window", 0) == 0) return s.attention(w, m, nn::Pairing::halves);
    return s.attention_rotated_locally(w, m, nn::Pairing::halves, nn::windowed(m, i, 4));
  }
};

struct Exaone4 : nn::Decoder<Exaone4Layer> {
  static constexpr std::string_view name = "exaone4";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
