// Hunyuan, dense and with experts: queries and keys are normed behind the rotation.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)), or experts and one shared by all
struct HunyuanLayer : nn::MoeLike {
  HunyuanLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s),
                     nn::FeedForward(w, m, s, {.hidden = s.hidden, .normalise = true, .shared_hidden = s.hidden})) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    if (const float alpha = m.real("rope.scaling.alpha", 0); alpha > 0)  // stretches the base, as NTK scaling does
      spec.rope = s.rope(w, m, nn::Pairing::halves,
                         s.rope_base * std::pow(alpha, float(s.head_dim) / float(s.head_dim - 2)), true);
    spec.norm_after_rope = true;
    return spec;
  }
};

struct Hunyuan : nn::Decoder<HunyuanLayer> {
  static constexpr std::string_view name = "hunyuan-dense";
  static constexpr std::string_view also[] = {"hunyuan-moe", "hunyuan_vl"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
