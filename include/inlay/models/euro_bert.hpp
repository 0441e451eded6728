// EuroBERT, NeoBERT and bidirectional Llama: encoders made like a decoder of their time, without its causal mask.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
template <nn::Pairing pairing>
struct EuroBertLayer : nn::LlamaLike {
  EuroBertLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.encoder_attention(w, m, pairing), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

template <nn::Pairing pairing>
struct PreNormEncoder : nn::Encoder<EuroBertLayer<pairing>> {
  nn::RmsNorm norm;
  PreNormEncoder(const nn::Metadata& m, const nn::Weights& w)
      : nn::Encoder<EuroBertLayer<pairing>>(m, w),
        norm(w, w.has("enc.output_norm.weight") ? "enc.output_norm" : "output_norm", this->shape.dim, this->shape.eps) {
  }

  nn::Tensor operator()(nn::Step& step) const {
    auto x = this->embed(step);
    step.through(this->layers, x);
    return norm(x);
  }
};

struct EuroBert : PreNormEncoder<nn::Pairing::halves> {
  static constexpr std::string_view name = "eurobert";
  using PreNormEncoder::PreNormEncoder;
};

struct NeoBert : PreNormEncoder<nn::Pairing::adjacent> {
  static constexpr std::string_view name = "neo-bert";
  static constexpr std::string_view also[] = {"llama-embed"};
  using PreNormEncoder::PreNormEncoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
