// Attention whose output is weighed by gates that the same input opens.
#pragma once

#include "inlay/nn/blocks.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// y [T, heads * V] times one number for each head, [T, heads].
inline Tensor weighed_heads(const Tensor& y, const Tensor& weights) {
  const std::int64_t heads = weights.cols(), size = y.cols() / heads, rows = y.rows() * heads;
  const auto weighed = y.view_as({rows, size}, {size, 1}) * weights.view_as({rows, 1}, {1, 1});
  return weighed.view_as({y.rows(), y.cols()}, {y.cols(), 1});
}

/// y [T, heads * V] times gates that are as many, or one for each head.
inline Tensor gated(const Tensor& y, const Tensor& opened) {
  return opened.cols() == y.cols() ? y * opened : weighed_heads(y, opened);
}

/// y = o(attend(q, k, v) * act(gate(x))), "attn_gate": a gate for each number that attention gives, or one for each
/// head
struct GatedAttention {
  Attention attention;
  Linear gate;
  Act act;
  GatedAttention(const Weights& w, const Attention::Spec& spec, Act a)
      : attention(w, spec), gate(w, "attn_gate", spec.dim, gates(w, spec.attend)), act(a) {}

  Tensor operator()(const Tensor& x, int layer) const {
    return attention.o(gated(attention.attend(attention.project(x), layer), x.step->glu(act, gate(x), {})));
  }

  Cache cache() const { return attention.cache(); }

 private:
  static std::int64_t gates(const Weights& w, const AttendSpec& a) {
    const auto shape = w.shape("attn_gate.weight");
    return !shape.empty() && shape[0] == a.heads ? a.heads
                                                 : std::int64_t(a.heads) * (a.value_dim ? a.value_dim : a.head_dim);
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
