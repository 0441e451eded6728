// RWKV 7's mixing of tokens: every token edits a part of the state, and values lean on the first layer's. Peng et al.
// 2025.
#pragma once

#include <optional>

#include "inlay/nn/recurrent.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// out((norm(wkv(r, w, k', v, kappa, a)) + bonus) * gate), each input from its own blend of this token's and the one
/// before; kappa = unit(k k_k), k' = k + k k_a (a - 1), and in each head bonus = v sum(r k' r_k)
struct Rwkv7TimeMix {
  std::int64_t dim, head, heads;
  Linear r, k, v, out;
  LowRank decay, rate;
  std::optional<LowRank> gate;
  std::optional<LowRank> lean;  // on the first layer's values; files give the first layer one that nothing reads
  Tensor blends, k_k, k_a, r_k, gain, bias;
  HeadSums sums;

  Rwkv7TimeMix(const Weights& w, const Metadata& m, const Shape& s, int i)
      : dim(s.dim),
        head(wkv_head(m, s)),
        heads(dim / head),
        r(w, "time_mix_receptance", dim, dim),
        k(w, "time_mix_key", dim, dim),
        v(w, "time_mix_value", dim, dim),
        out(w, "time_mix_output", dim, dim),
        decay(w, "time_mix_w", dim),
        rate(w, "time_mix_a", dim),
        blends(w("time_mix_lerp_fused.weight", {w.has("time_mix_g1.weight") ? 6 : 5, dim})),
        k_k(w("time_mix_k_k.weight", {1, dim})),
        k_a(w("time_mix_k_a.weight", {1, dim})),
        r_k(w("time_mix_r_k.weight", {1, dim})),
        gain(w.maybe("time_mix_ln.weight", {1, dim}).view_as({heads, head}, {head, 1})),
        bias(w.maybe("time_mix_ln.bias", {1, dim}).view_as({heads, head}, {head, 1})),
        sums(w, heads, head) {
    if (w.has("time_mix_g1.weight")) gate.emplace(w, "time_mix_g", dim);
    if (i > 0 || w.has("time_mix_v1.weight")) lean.emplace(w, "time_mix_v", dim);
  }

  Tensor operator()(const Tensor& x, const Tensor& first_values, int layer) const {
    auto& step = *x.step;
    const auto count = blends.rows();
    const auto all = step.scan(INLAY_SCAN_SHIFT, layer, x, {blends}, {x.rows(), count, dim});
    const auto blend = [&](int j) { return all.heads(j, 1).view_as({x.rows(), dim}, {count * dim, 1}); };
    const auto queries = r(blend(0)), d = decay(blend(1), Act::tanh);
    auto keys = k(blend(2)), values = v(blend(3));
    const auto a = step.glu(Act::sigmoid, rate(blend(4), Act::none), {});
    if (layer > 0) {
      const auto share = step.glu(Act::sigmoid, (*lean)(blend(3), Act::none), {});
      values += (first_values - values) * share;
    } else {
      step.copy(values, first_values);
    }
    const auto kappa = step.norm(INLAY_NORM_L2, (keys * k_k).split(heads), {}, {}, 1e-12f);
    const auto scaled = keys * k_a;
    keys = keys + scaled * a - scaled;
    auto y = step.scan(INLAY_SCAN_RWKV7, layer, values.split(heads),
                       {queries.split(heads), keys.split(heads), d.split(heads), kappa, a.split(heads)},
                       {x.rows(), heads, head}, int(heads), 1, Act::none, 0, 2 * dim * 4);
    y = (gain ? step.norm(INLAY_NORM_LAYER, y, gain, bias, wkv_eps) : y).join();
    y += sums.times(values, queries, keys * r_k, layer, (2 + head) * dim * 4);
    return out(gate ? y * (*gate)(blend(5), Act::sigmoid) : y);
  }

  Cache cache() const { return {.state_bytes = (3 + head) * dim * 4}; }  // both shifts, the state, the sums
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
