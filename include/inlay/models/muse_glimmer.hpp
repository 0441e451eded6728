// Muse Glimmer: gated attention that rotates behind windows only, norms around every block, and a normed embedding.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(norm(x)));  x += norm(mlp(norm(x)))
struct MuseGlimmerLayer : nn::SandwichLayer<nn::GatedMlp, nn::GatedAttention> {
  MuseGlimmerLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(
            w, s,
            nn::GatedAttention(w, s.attention_rotated_locally(w, m, nn::Pairing::adjacent, nn::windowed(m, i, 4)),
                               nn::Act::sigmoid),
            nn::GatedMlp(w, s.dim, s.hidden)) {
    post_attn_norm.eps = post_mlp_norm.eps = 1e-8f;  // no key says so
  }
};

struct MuseGlimmer : nn::NormedDecoder<MuseGlimmerLayer, nn::RmsNorm, nn::UnitRms> {
  static constexpr std::string_view name = "muse-glimmer";
  MuseGlimmer(const nn::Metadata& m, const nn::Weights& w) : NormedDecoder(m, w) {
    head.scale = m.real("logit_scale");
    head.softcap = m.real("final_logit_softcapping", 0);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
