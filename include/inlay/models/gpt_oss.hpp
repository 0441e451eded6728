// gpt-oss: attention sinks, every other layer behind a window, and clamped SwiGLU experts.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x))
struct GptOssLayer : nn::PreNormLayer<nn::RmsNorm, nn::Moe> {
  GptOssLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, spec(w, m, s, i),
                     nn::Moe(w, m, s,
                             {.hidden = s.hidden,
                              .gating = INLAY_ROUTE_SOFTMAX_CHOSEN,
                              .act = nn::Act::swiglu_clamped,
                              .alpha = 1.702f,
                              .limit = 7}),
                     "post_attention_norm") {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    spec.rope = s.rope(w, m, nn::Pairing::halves, s.rope_base, true, nn::YarnBounds::exact);
    spec.attend.sinks = w("attn_sinks.weight", {s.heads});
    if (nn::windowed(m, i, 2)) spec.attend.window = m.integer("attention.sliding_window");
    return spec;
  }
};

struct GptOss : nn::Decoder<GptOssLayer> {
  static constexpr std::string_view name = "gpt-oss";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
