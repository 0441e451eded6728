// LFM 2: short convolutions, and attention with normed queries and keys on some layers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x));  x += mlp(norm(x))
struct Lfm2Layer {
  nn::RmsNorm mixer_norm, mlp_norm;
  std::optional<nn::Attention> attention;
  std::optional<nn::ShortConvolution> convolution;
  nn::FeedForward mlp;

  Lfm2Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Lfm2Layer(w, m, nn::Shape(m).at(m, i)) {}
  Lfm2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : mixer_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        mlp(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SIGMOID, .normalise = true}) {
    if (s.kv_heads > 0)
      attention.emplace(w, s.attention(w, m, nn::Pairing::halves));
    else
      convolution.emplace(w, m, s.dim);
  }

  void operator()(nn::Tensor& x, int i) const {
    const auto h = mixer_norm(x);
    x += attention ? (*attention)(h, i) : (*convolution)(h, i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention ? attention->cache() : convolution->cache(); }
};

/// The last norm has the name "token_embd_norm" in these files.
struct Lfm2 : nn::Decoder<Lfm2Layer> {
  static constexpr std::string_view name = "lfm2";
  Lfm2(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w, nn::Shape(m), "token_embd_norm") {}
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
