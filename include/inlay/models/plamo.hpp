// PLaMo: Llama with attention and MLP side by side behind one norm.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = norm(x);  x += attention(h) + mlp(h)
struct PlamoLayer {
  nn::RmsNorm norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  PlamoLayer(const nn::Weights& w, const nn::Metadata& m, int) : PlamoLayer(w, m, nn::Shape(m)) {}
  PlamoLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : norm(w, "attn_norm", s.dim, s.eps),
        attention(w, s.attention(w, m, nn::Pairing::halves)),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = norm(x);
    x += attention(h, i) + mlp(h);
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Plamo : nn::Decoder<PlamoLayer> {
  static constexpr std::string_view name = "plamo";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
