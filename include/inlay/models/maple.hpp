// Maple: experts behind bounded gates; layers that look through a window rotate, those that see everything do not.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x))
struct MapleLayer : nn::PreNormLayer<nn::RmsNorm, nn::Moe> {
  MapleLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, spec(w, m, s, i), nn::Moe(w, m, s, experts(m.real("swiglu_clamp_exp", i, 0)))) {}

  static nn::Moe::Defaults experts(float limit) {
    return {.normalise = true, .act = limit > 0 ? nn::Act::swiglu_bounded : nn::Act::silu, .limit = limit};
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    if (!m.flag("attention.sliding_window_pattern", i, false)) return s.attention_unrotated();
    return s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, true);
  }
};

struct Maple : nn::Decoder<MapleLayer> {
  static constexpr std::string_view name = "maple";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
