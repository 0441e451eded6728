// MiniCPM 3: latent attention in its plain form, with scales that no key states.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += r attention(norm(x));  x += r mlp(norm(x)), r = 1.4 / sqrt(layers)
struct Minicpm3Layer : nn::ScaledLayer<nn::GatedMlp, nn::LatentAttention> {
  Minicpm3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : ScaledLayer(w, s, nn::LatentAttention(w, m, s, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden),
                    1.4f / std::sqrt(float(s.layers))) {}
};

struct Minicpm3 : nn::Decoder<Minicpm3Layer> {
  static constexpr std::string_view name = "minicpm3";
  Minicpm3(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    embed.scale = 12;
    head.scale = 256 / float(shape.dim);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
