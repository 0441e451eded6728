// Jamba: Mamba layers, an attention layer without rotation here and there, experts on some.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x));  x += mlp(norm(x))
struct JambaLayer {
  nn::RmsNorm mixer_norm, mlp_norm;
  std::optional<nn::Attention> attention;
  std::optional<nn::Mamba> mamba;
  nn::FeedForward mlp;

  JambaLayer(const nn::Weights& w, const nn::Metadata& m, int i) : JambaLayer(w, m, nn::Shape(m).at(m, i)) {}
  JambaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : mixer_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        mlp(w, m, s, {.hidden = s.hidden}) {
    if (s.kv_heads > 0)
      attention.emplace(w, s.attention_unrotated());
    else
      mamba.emplace(w, m, s.dim, s.eps);
  }

  void operator()(nn::Tensor& x, int i) const {
    const auto h = mixer_norm(x);
    x += attention ? (*attention)(h, i) : (*mamba)(h, i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention ? attention->cache() : mamba->cache(); }
};

struct Jamba : nn::Decoder<JambaLayer> {
  static constexpr std::string_view name = "jamba";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
