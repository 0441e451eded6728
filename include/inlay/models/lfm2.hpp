// LFM 2: short convolutions, and attention with normed queries and keys on some layers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x));  x += mlp(norm(x))
struct Lfm2Layer
    : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::AttentionOr<nn::Attention, nn::ShortConvolution>> {
  Lfm2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, mixer(w, m, s),
                     nn::FeedForward(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SIGMOID, .normalise = true})) {
  }

  static nn::AttentionOr<nn::Attention, nn::ShortConvolution> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                                    const nn::Shape& s) {
    if (s.kv_heads == 0) return nn::ShortConvolution(w, m, s.dim);
    return nn::Attention(w, s.attention(w, m, nn::Pairing::halves));
  }
};

/// The last norm has the name "token_embd_norm" in these files.
struct Lfm2 : nn::Decoder<Lfm2Layer> {
  static constexpr std::string_view name = "lfm2";
  static constexpr std::string_view also[] = {"lfm2moe"};
  Lfm2(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w, nn::Shape(m), "token_embd_norm") {}
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
