// PLM: latent attention in its plain form, and an MLP of squared rectifiers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct PlmLayer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::LatentAttention attention;
  nn::Mlp mlp;

  PlmLayer(const nn::Weights& w, const nn::Metadata& m, int) : PlmLayer(w, m, nn::Shape(m)) {}
  PlmLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, m, s, nn::Pairing::adjacent),
        mlp(w, s.dim, s.hidden, nn::Act::relu2) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Plm : nn::Decoder<PlmLayer> {
  static constexpr std::string_view name = "plm";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
