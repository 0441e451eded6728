// PLM: latent attention in its plain form, and an MLP of squared rectifiers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct PlmLayer : nn::PreNormLayer<nn::RmsNorm, nn::Mlp, nn::LatentAttention> {
  PlmLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, nn::LatentAttention(w, m, s, nn::Pairing::adjacent),
                     nn::Mlp(w, s.dim, s.hidden, nn::Act::relu2)) {}
};

struct Plm : nn::Decoder<PlmLayer> {
  static constexpr std::string_view name = "plm";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
