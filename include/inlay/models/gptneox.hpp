// GPT-NeoX and Pythia: attention and MLP side by side, partial rotation.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x)) + mlp(norm'(x)), or one after the other
struct GptNeoxLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp> {
  bool parallel;
  GptNeoxLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu)),
        parallel(m.integer("use_parallel_residual") != 0) {}

  void operator()(nn::Tensor& x, int i) const {
    if (!parallel) return PreNormLayer::operator()(x, i);
    const auto h = attention(attn_norm(x), i);
    x += h + feed(mlp_norm(x));
  }
};

struct GptNeox : nn::Decoder<GptNeoxLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "gptneox";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
