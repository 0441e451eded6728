// Mellum: Qwen 3 with experts whose layers look through a window, all but every fourth.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x))
struct MellumLayer : nn::MoeLike {
  MellumLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, spec(w, m, s, i), nn::FeedForward(w, m, s, {.hidden = s.hidden, .normalise = true})) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = m.integer("attention.sliding_window", 0) > 0 && nn::windowed(m, i, 4);
    return local ? s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, false)
                 : s.attention(w, m, nn::Pairing::halves);
  }
};

struct Mellum : nn::Decoder<MellumLayer> {
  static constexpr std::string_view name = "mellum";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
