// OLMo 2 and 3: norms behind the blocks instead of before them, and over the whole width of queries and keys.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(x));  x += norm(mlp(x))
struct Olmo2Layer : nn::PostNormLayer {
  Olmo2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PostNormLayer(w, s, spec(w, m, s, i)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = m.integer("attention.sliding_window", 0) > 0 && nn::windowed(m, i, 4);
    return local ? s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, false)
                 : s.attention(w, m, nn::Pairing::halves);
  }
};

struct Olmo2 : nn::Decoder<Olmo2Layer> {
  static constexpr std::string_view name = "olmo2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
