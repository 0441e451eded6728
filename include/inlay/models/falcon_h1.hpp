// Falcon H1: attention and Mamba 2 side by side on every layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mamba2(h);  x += mlp(norm(x))
struct FalconH1Layer : nn::LlamaLike {
  nn::Mamba2 mamba;
  FalconH1Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden)),
        mamba(w, m, s.dim, s.eps) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = attn_norm(x);
    const auto attended = attention(h, i);
    x += attended + mamba(h, i);
    x += feed(mlp_norm(x));
  }

  nn::Cache cache() const {
    auto both = attention.cache();
    both.state_bytes = mamba.cache().state_bytes;
    return both;
  }
};

struct FalconH1 : nn::Decoder<FalconH1Layer> {
  static constexpr std::string_view name = "falcon-h1";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
