// Phi 1, 1.5 and 2: attention and MLP read the same normed input and are added together.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct Phi2Layer {
  nn::LayerNorm norm;
  nn::Attention attention;
  nn::Mlp mlp;

  Phi2Layer(const nn::Weights& w, const nn::Metadata& m, int) : Phi2Layer(w, m, nn::Shape(m)) {}
  Phi2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : norm(w, "attn_norm", s.dim, s.eps),
        attention(w, s.attention(w, m, nn::Pairing::halves)),
        mlp(w, s.dim, s.hidden, nn::Act::gelu_tanh) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = norm(x);
    x += attention(h, i) + mlp(h);
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Phi2 : nn::Decoder<Phi2Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "phi2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
