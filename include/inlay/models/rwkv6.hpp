// RWKV 6 "Finch": time mixing with a decay that depends on the input, and channel mixing. Peng et al. 2024.
#pragma once

#include <array>

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// out(norm(wkv(r, k, v, w, u)) * silu(gate)), each of r, k, v, w and the gate from its own blend of this token's input
/// and the one before: blend_j = x + (x' - x) * (mu_j + W2_j tanh(W1 (x + (x' - x) * mu)))
struct Rwkv6TimeMix {
  std::int64_t dim, head, heads;
  nn::Linear w1, decay_1, decay_2, r, k, v, gate, out;
  nn::Tensor w2, mu, decay, first, gain, bias;
  std::array<nn::Tensor, 5> blends;  // of w, k, v, r and the gate: in one tensor, or apart in older files

  Rwkv6TimeMix(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : dim(s.dim),
        head(nn::wkv_head(m, s)),
        heads(dim / head),
        w1(w, "time_mix_w1", dim, 5 * std::int64_t(m.integer("time_mix_extra_dim"))),
        decay_1(w, "time_mix_decay_w1", dim, m.integer("time_decay_extra_dim")),
        decay_2(w, "time_mix_decay_w2", m.integer("time_decay_extra_dim"), dim),
        r(w, "time_mix_receptance", dim, dim),
        k(w, "time_mix_key", dim, dim),
        v(w, "time_mix_value", dim, dim),
        gate(w, "time_mix_gate", dim, dim),
        out(w, "time_mix_output", dim, dim),
        w2(w.matrix("time_mix_w2.weight", {5, dim, m.integer("time_mix_extra_dim")})),
        mu(w("time_mix_lerp_x.weight", {1, dim})),
        decay(w("time_mix_decay.weight", {1, dim})),
        first(w("time_mix_first.weight", {heads, head})),
        gain(w("time_mix_ln.weight", {1, dim}).view_as({heads, head}, {head, 1})),
        bias(w("time_mix_ln.bias", {1, dim}).view_as({heads, head}, {head, 1})) {
    const auto all = w.maybe("time_mix_lerp_fused.weight", {5, dim});
    constexpr const char* apart[] = {"time_mix_lerp_w.weight", "time_mix_lerp_k.weight", "time_mix_lerp_v.weight",
                                     "time_mix_lerp_r.weight", "time_mix_lerp_g.weight"};
    for (int j = 0; j < 5; ++j) blends[std::size_t(j)] = all ? all.slice(j, 1) : w(apart[j], {1, dim});
  }

  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    auto& step = *x.step;
    const auto rows = x.rows();
    const auto change = nn::token_shift(x, layer);
    auto low = step.glu(nn::Act::tanh, w1(x + change * mu), {}).split(5);
    const auto moves = step.linear(low, w2);  // [T, 5, dim], in the order w, k, v, r, gate
    const auto blend = [&](int j) {
      const auto move = moves.heads(j, 1).view_as({rows, dim}, {5 * dim, 1});
      return x + change * (move + blends[std::size_t(j)]);
    };
    const auto rate = decay_2(step.glu(nn::Act::tanh, decay_1(blend(0)), {})) + decay;
    const auto keys = k(blend(1)), values = v(blend(2)), queries = r(blend(3)), gates = gate(blend(4));
    const auto y = step.scan(INLAY_SCAN_RWKV6, layer, values.split(heads),
                             {queries.split(heads), keys.split(heads), rate.split(heads), first}, {rows, heads, head},
                             int(heads), 1, nn::Act::none, 0, 2 * dim * 4);
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
