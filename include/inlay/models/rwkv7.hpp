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

  Rwkv7Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Rwkv7Layer(w, m, nn::Shape(m), i) {}
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

  nn::Cache cache() const { return {.state_bytes = time_mix.state_bytes()}; }
};

struct Rwkv7 : nn::Decoder<Rwkv7Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "rwkv7";
  nn::LayerNorm embed_norm;
  Rwkv7(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w), embed_norm(w, "token_embd_norm", shape.dim, shape.eps) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed_norm(embed(step));
    const auto first_values = step.scratch({x.rows(), x.cols()});
    step.through(layers, x, first_values);
    return head(x);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
