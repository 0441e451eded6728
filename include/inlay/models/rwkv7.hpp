// RWKV 7 "Goose": every token edits a part of the state, and values lean on those of the first layer. Peng et al. 2025.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// out((norm(wkv(r, w, k', v, kappa, a)) + bonus) * gate), each input from its own blend of this token's and the one
/// before; kappa = unit(k k_k), k' = k + k k_a (a - 1), and in each head bonus = v sum(r k' r_k)
struct Rwkv7TimeMix {
  std::int64_t dim, head, heads;
  nn::Linear r, k, v, out;
  nn::LowRank decay, rate, gate;
  std::optional<nn::LowRank> lean;  // on the first layer's values; files give the first layer one that nothing reads
  nn::Tensor blends, k_k, k_a, r_k, gain, bias;
  nn::HeadSums sums;

  Rwkv7TimeMix(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : dim(s.dim),
        head(nn::wkv_head(m, s)),
        heads(dim / head),
        r(w, "time_mix_receptance", dim, dim),
        k(w, "time_mix_key", dim, dim),
        v(w, "time_mix_value", dim, dim),
        out(w, "time_mix_output", dim, dim),
        decay(w, "time_mix_w", dim),
        rate(w, "time_mix_a", dim),
        gate(w, "time_mix_g", dim),
        blends(w("time_mix_lerp_fused.weight", {6, dim})),
        k_k(w("time_mix_k_k.weight", {1, dim})),
        k_a(w("time_mix_k_a.weight", {1, dim})),
        r_k(w("time_mix_r_k.weight", {1, dim})),
        gain(w("time_mix_ln.weight", {1, dim}).view_as({heads, head}, {head, 1})),
        bias(w("time_mix_ln.bias", {1, dim}).view_as({heads, head}, {head, 1})),
        sums(w, heads, head) {
    if (i > 0 || w.has("time_mix_v1.weight")) lean.emplace(w, "time_mix_v", dim);
  }

  nn::Tensor operator()(const nn::Tensor& x, const nn::Tensor& first_values, int layer) const {
    auto& step = *x.step;
    const auto all = step.scan(INLAY_SCAN_SHIFT, layer, x, {blends}, {x.rows(), 6, dim});
    const auto blend = [&](int j) { return all.heads(j, 1).view_as({x.rows(), dim}, {6 * dim, 1}); };
    const auto queries = r(blend(0)), d = decay(blend(1), nn::Act::tanh);
    auto keys = k(blend(2)), values = v(blend(3));
    const auto a = step.glu(nn::Act::sigmoid, rate(blend(4), nn::Act::none), {});
    const auto gates = gate(blend(5), nn::Act::sigmoid);
    if (layer > 0) {
      const auto share = step.glu(nn::Act::sigmoid, (*lean)(blend(3), nn::Act::none), {});
      values += (first_values - values) * share;
    } else {
      step.copy(values, first_values);
    }
    const auto kappa = step.norm(INLAY_NORM_L2, (keys * k_k).split(heads), {}, {}, 1e-12f);
    const auto scaled = keys * k_a;
    keys = keys + scaled * a - scaled;
    auto y = step.scan(INLAY_SCAN_RWKV7, layer, values.split(heads),
                       {queries.split(heads), keys.split(heads), d.split(heads), kappa, a.split(heads)},
                       {x.rows(), heads, head}, int(heads), 1, nn::Act::none, 0, 2 * dim * 4);
    y = step.norm(INLAY_NORM_LAYER, y, gain, bias, nn::wkv_eps).join();
    y += sums.times(values, queries, keys * r_k, layer, (2 + head) * dim * 4);
    return out(y * gates);
  }

  std::int64_t state_bytes() const { return (3 + head) * dim * 4; }  // both shifts, the state, the sums
};

/// x += time_mix(norm(x));  x += v(relu(k(blend(norm(x))))²)
struct Rwkv7Layer {
  nn::LayerNorm time_norm, channel_norm;
  Rwkv7TimeMix time_mix;
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
