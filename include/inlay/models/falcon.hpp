// Falcon: attention and MLP side by side; the 40B has a norm for each.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x)) + mlp(norm'(x))
struct FalconLayer {
  nn::LayerNorm mlp_norm, attn_norm;
  nn::Attention attention;
  nn::Mlp mlp;

  FalconLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : mlp_norm(w, "attn_norm", s.dim, s.eps),
        attn_norm(w.has("attn_norm_2.weight") ? nn::LayerNorm(w, "attn_norm_2", s.dim, s.eps) : mlp_norm),
        attention(w, s.attention(w, m, nn::Pairing::halves)),
        mlp(w, s.dim, s.hidden, nn::Act::gelu) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = attention(attn_norm(x), i);
    x += h + mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Falcon : nn::Decoder<FalconLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "falcon";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
