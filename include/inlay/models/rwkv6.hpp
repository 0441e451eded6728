// RWKV 6 "Finch": time mixing with a decay that depends on the input, and channel mixing. Peng et al. 2024.
#pragma once

#include "inlay/nn.hpp"
#include "inlay/nn/rwkv6.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// out(norm(wkv(r, k, v, w, u)) * silu(gate)), each of r, k, v, w and the gate from its own blend of this token's input
/// and the one before
struct Rwkv6TimeMix {
  std::int64_t dim, head, heads;
  nn::Rwkv6Blends blends;
  nn::Rwkv6Decay decay;
  nn::Linear r, k, v, gate, out;
  nn::Tensor first, gain, bias;

  Rwkv6TimeMix(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : dim(s.dim),
        head(nn::wkv_head(m, s)),
        heads(dim / head),
        blends(w, m, s),
        decay(w, m, s),
        r(w, "time_mix_receptance", dim, dim),
        k(w, "time_mix_key", dim, dim),
        v(w, "time_mix_value", dim, dim),
        gate(w, "time_mix_gate", dim, dim),
        out(w, "time_mix_output", dim, dim),
        first(w("time_mix_first.weight", {heads, head})),
        gain(w("time_mix_ln.weight", {1, dim}).view_as({heads, head}, {head, 1})),
        bias(w("time_mix_ln.bias", {1, dim}).view_as({heads, head}, {head, 1})) {}

  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    auto& step = *x.step;
    const auto [of_rate, of_k, of_v, of_r, of_gate] = blends(x, layer);
    const auto rate = decay(of_rate), keys = k(of_k), values = v(of_v), queries = r(of_r), gates = gate(of_gate);
    const auto y = step.scan(INLAY_SCAN_RWKV6, layer, values.split(heads),
                             {queries.split(heads), keys.split(heads), rate.split(heads), first},
                             {x.rows(), heads, head}, int(heads), 1, nn::Act::none, 0, 2 * dim * 4);
    return out(step.glu(nn::Act::silu, gates, step.norm(INLAY_NORM_LAYER, y, gain, bias, nn::wkv_eps).join()));
  }
};

/// x += time_mix(norm(x));  x += sigmoid(r(blend)) * v(relu(k(blend'))²);  every so many layers x is halved
struct Rwkv6Layer {
  nn::LayerNorm time_norm, channel_norm;
  Rwkv6TimeMix time_mix;
  nn::Tensor mu_k, mu_r;
  nn::Linear k, v, r;
  int halved;  // after each so many layers; 0: never

  Rwkv6Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : time_norm(w, "attn_norm", s.dim, s.eps),
        channel_norm(w, "attn_norm_2", s.dim, s.eps),
        time_mix(w, m, s),
        mu_k(w("channel_mix_lerp_k.weight", {1, s.dim})),
        mu_r(w("channel_mix_lerp_r.weight", {1, s.dim})),
        k(w, "channel_mix_key", s.dim, s.hidden),
        v(w, "channel_mix_value", s.hidden, s.dim),
        r(w, "channel_mix_receptance", s.dim, s.dim),
        halved(m.integer("rescale_every_n_layers", 0)) {}

  void operator()(nn::Tensor& x, int i) const {
    x += time_mix(time_norm(x), i);
    const auto h = channel_norm(x), change = nn::token_shift(h, i, h.cols() * 4);
    const auto value = v(x.step->glu(nn::Act::relu2, k(h + change * mu_k), {}));
    x += x.step->glu(nn::Act::sigmoid, r(h + change * mu_r), value);
    if (halved > 0 && (i + 1) % halved == 0) x *= 0.5f;
  }

  nn::Cache cache() const { return {.state_bytes = (2 + time_mix.head) * time_mix.dim * 4}; }
};

struct Rwkv6 : nn::NormedDecoder<Rwkv6Layer, nn::LayerNorm> {
  static constexpr std::string_view name = "rwkv6";
  using NormedDecoder::NormedDecoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
