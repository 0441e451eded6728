// ARWKV 7: Qwen 2 with the time mixing of RWKV 7, in some files without its gates or its norm, instead of attention.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += time_mix(norm(x));  x += mlp(norm(x))
struct Arwkv7Layer {
  nn::RmsNorm time_norm, mlp_norm;
  nn::Rwkv7TimeMix time_mix;
  nn::GatedMlp mlp;

  Arwkv7Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Arwkv7Layer(w, m, nn::Shape(m), i) {}
  Arwkv7Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : time_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        time_mix(w, m, s, i),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, const nn::Tensor& first_values, int i) const {
    x += time_mix(time_norm(x), first_values, i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return {.state_bytes = time_mix.state_bytes()}; }
};

struct Arwkv7 : nn::Decoder<Arwkv7Layer> {
  static constexpr std::string_view name = "arwkv7";
  using Decoder::Decoder;

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    step.through(layers, x, step.scratch({x.rows(), x.cols()}));
    return head(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
