// ARWKV 7: Qwen 2 with the time mixing of RWKV 7, in some files without its gates or its norm, instead of attention.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += time_mix(norm(x));  x += mlp(norm(x))
struct Arwkv7Layer : nn::PreNormLayer<nn::RmsNorm, nn::GatedMlp, nn::Rwkv7TimeMix> {
  Arwkv7Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, nn::Rwkv7TimeMix(w, m, s, i), nn::GatedMlp(w, s.dim, s.hidden)) {}

  void operator()(nn::Tensor& x, const nn::Tensor& first_values, int i) const {
    x += attention(attn_norm(x), first_values, i);
    x += feed(mlp_norm(x));
  }
};

struct Arwkv7 : nn::Decoder<Arwkv7Layer> {
  static constexpr std::string_view name = "arwkv7";
  using Decoder::Decoder;

  nn::Tensor operator()(nn::Step& step) const {
    const auto x = embed(step);
    return decode(x, step.scratch({x.rows(), x.cols()}));
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
