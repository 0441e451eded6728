// Mamba 2: layers of one state space with a decay for each head.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mamba2(norm(x))
struct Mamba2Layer {
  nn::RmsNorm norm;
  nn::Mamba2 mixer;

  Mamba2Layer(const nn::Weights& w, const nn::Metadata& m, int) : Mamba2Layer(w, m, nn::Shape(m)) {}
  Mamba2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : norm(w, "attn_norm", s.dim, s.eps), mixer(w, m, s.dim, s.eps) {}

  void operator()(nn::Tensor& x, int i) const { x += mixer(norm(x), i); }

  nn::Cache cache() const { return mixer.cache(); }
};

struct Mamba2 : nn::Decoder<Mamba2Layer> {
  static constexpr std::string_view name = "mamba2";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
