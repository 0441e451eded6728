// Mamba and Falcon Mamba: layers of one selective state space each, and nothing else.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mamba(norm(x))
struct MambaLayer {
  nn::RmsNorm norm;
  nn::Mamba mixer;

  MambaLayer(const nn::Weights& w, const nn::Metadata& m, int) : MambaLayer(w, m, nn::Shape(m)) {}
  MambaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : norm(w, "attn_norm", s.dim, s.eps), mixer(w, m, s.dim, s.eps) {}

  void operator()(nn::Tensor& x, int i) const { x += mixer(norm(x), i); }

  nn::Cache cache() const { return mixer.cache(); }
};

struct Mamba : nn::Decoder<MambaLayer> {
  static constexpr std::string_view name = "mamba";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
