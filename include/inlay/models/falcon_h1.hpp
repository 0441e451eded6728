// Falcon H1: attention and Mamba 2 side by side on every layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mamba2(h);  x += mlp(norm(x))
struct FalconH1Layer {
  nn::RmsNorm mixer_norm, mlp_norm;
  nn::Attention attention;
  nn::Mamba2 mamba;
  nn::GatedMlp mlp;

  FalconH1Layer(const nn::Weights& w, const nn::Metadata& m, int) : FalconH1Layer(w, m, nn::Shape(m)) {}
  FalconH1Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : mixer_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, s.attention(w, m, nn::Pairing::halves)),
        mamba(w, m, s.dim, s.eps),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = mixer_norm(x);
    const auto attended = attention(h, i);
    x += attended + mamba(h, i);
    x += mlp(mlp_norm(x));
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
