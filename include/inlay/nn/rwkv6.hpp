// What RWKV 6's mixing of tokens begins with: five blends of this token's input and the one before. Peng et al. 2024.
#pragma once

#include <array>

#include "inlay/nn/recurrent.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// blend_j = x + (x' - x) * (mu_j + W2_j tanh(W1 (x + (x' - x) * mu))): of w, k, v, r and the gate, in this order.
struct Rwkv6Blends {
  std::int64_t dim;
  Linear w1;
  Tensor w2, mu;
  std::array<Tensor, 5> each;  // in one tensor, or apart in older files

  Rwkv6Blends(const Weights& w, const Metadata& m, const Shape& s)
      : dim(s.dim),
        w1(w, "time_mix_w1", dim, 5 * std::int64_t(m.integer("time_mix_extra_dim"))),
        w2(w.matrix("time_mix_w2.weight", {5, dim, m.integer("time_mix_extra_dim")})),
        mu(w("time_mix_lerp_x.weight", {1, dim})) {
    const auto all = w.maybe("time_mix_lerp_fused.weight", {5, dim});
    constexpr const char* apart[] = {"time_mix_lerp_w.weight", "time_mix_lerp_k.weight", "time_mix_lerp_v.weight",
                                     "time_mix_lerp_r.weight", "time_mix_lerp_g.weight"};
    for (int j = 0; j < 5; ++j) each[std::size_t(j)] = all ? all.slice(j, 1) : w(apart[j], {1, dim});
  }

  std::array<Tensor, 5> operator()(const Tensor& x, int layer) const {
    auto& step = *x.step;
    const auto change = token_shift(x, layer);
    const auto low = step.glu(Act::tanh, w1(x + change * mu), {}).split(5);
    const auto moves = step.linear(low, w2);  // [T, 5, dim]
    std::array<Tensor, 5> blends;
    for (std::size_t j = 0; j < blends.size(); ++j) {
      const auto move = moves.heads(std::int64_t(j), 1).view_as({x.rows(), dim}, {5 * dim, 1});
      blends[j] = x + change * (move + each[j]);
    }
    return blends;
  }
};

/// The rate of each number's decay, base + W2 tanh(W1 x): a token multiplies the state by w = exp(-exp(rate)).
struct Rwkv6Decay {
  Linear first, second;
  Tensor base;

  Rwkv6Decay(const Weights& w, const Metadata& m, const Shape& s)
      : first(w, "time_mix_decay_w1", s.dim, m.integer("time_decay_extra_dim")),
        second(w, "time_mix_decay_w2", m.integer("time_decay_extra_dim"), s.dim),
        base(w("time_mix_decay.weight", {1, s.dim})) {}

  Tensor operator()(const Tensor& x) const { return second(x.step->glu(Act::tanh, first(x), {})) + base; }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
