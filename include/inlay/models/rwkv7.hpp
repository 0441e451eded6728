// RWKV 7 "Goose": every token edits a part of the state, and values lean on those of the first layer. Peng et al. 2025.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += time_mix(norm(x));  x += v(relu(k(blend(norm(x))))²)
struct Rwkv7Layer {
  nn::LayerNorm time_norm, channel_norm;
  nn::Rwkv7TimeMix time_mix;
  nn::Tensor blend;
  nn::Linear k, v;

  Rwkv7Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : time_norm(w, "attn_norm", s.dim, s.eps),
        channel_norm(w, "attn_norm_2", s.dim, s.eps),
        time_mix(w, m, s, i),
        blend(w("channel_mix_lerp_k.weight", {1, s.dim})),
        k(w, "channel_mix_key", s.dim, s.hidden),
        v(w, "channel_mix_value", s.hidden, s.dim) {}

  void operator()(nn::Tensor& x, const nn::Tensor& first_values, int i) const {
    x += time_mix(time_norm(x), first_values, i);
    const auto h = channel_norm(x);
    x += v(x.step->glu(nn::Act::relu2, k(h + nn::token_shift(h, i, h.cols() * 4) * blend), {}));
  }

  nn::Cache cache() const { return time_mix.cache(); }
};

struct Rwkv7 : nn::NormedDecoder<Rwkv7Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "rwkv7";
  using NormedDecoder::NormedDecoder;

  nn::Tensor operator()(nn::Step& step) const {
    const auto x = embedded(step);
    return decode(x, step.scratch({x.rows(), x.cols()}));
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
