// MiniCPM: Llama with a scaled embedding, scaled residuals and scaled logits.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r attention(norm(x));  x += r mlp(norm(x))
struct MinicpmLayer : nn::ScaledLayer<nn::GatedMlp> {
  MinicpmLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ScaledLayer(w, s, nn::Attention(w, s.attention(w, m)), nn::GatedMlp(w, s.dim, s.hidden),
                    nn::scale_or(m, "residual_scale", 1.4f / std::sqrt(float(s.layers)))) {}
};

struct Minicpm : nn::Decoder<MinicpmLayer> {
  static constexpr std::string_view name = "minicpm";
  Minicpm(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    embed.scale = nn::scale_or(m, "embedding_scale", 12);
    head.scale = 1 / nn::scale_or(m, "logit_scale", float(shape.dim) / 256);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
