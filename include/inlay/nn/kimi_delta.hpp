// Kimi Delta Attention: a gated delta rule whose decay differs from channel to channel. Kimi Team 2025.
#pragma once

#include "inlay/nn/recurrent.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// q, k, v = silu(conv(W x)), q and k brought to length 1; S = e^g S + k beta (v - S'k)';  y = o(norm(S'q) *
/// sigmoid(gate)). g = -a softplus(f(x)), or, between "kda.gate_lower_bound" and 0, bound * sigmoid(a f(x)); f and the
/// gate are of low rank or whole.
struct INLAY_API KimiDelta {
  std::int64_t heads, head, taps;
  Linear q, k, v, decay_a, decay_b, beta, gate_a, gate_b, o;
  Tensor convs[3], rate, bias;
  RmsNorm norm;
  float bound;  ///< 0: none

  KimiDelta(const Weights& w, const Metadata& m, const Shape& s);
  Tensor operator()(const Tensor& x, int layer) const;
  Cache cache() const { return {.state_bytes = 3 * conv_bytes() + heads * head * head * 4}; }

 private:
  std::int64_t conv_bytes() const { return (taps - 1) * heads * head * 4; }
  Tensor mixed(const Tensor& x, int which, int layer) const;
  Tensor decays(const Tensor& x) const;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
