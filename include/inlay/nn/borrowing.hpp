// Attention of models whose late layers have no keys and values of their own and look at those of an earlier one.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// The layer whose keys and values layer i looks at: its own, or, for the last "attention.shared_kv_layers", those of
/// the last layer before them of the same kind, windowed or not.
template <class Windowed>
int lender(const Metadata& m, const Shape& s, int i, int otherwise_own, const Windowed& windowed) {
  const int own = m.has("attention.shared_kv_layers") ? s.layers - m.integer("attention.shared_kv_layers")
                                                      : std::min(s.layers, otherwise_own);
  if (own < 1 || own > s.layers) m.refuse("attention.shared_kv_layers", "does not fit the layers");
  if (i < own) return i;
  for (int j = own - 1; j >= 0; --j)
    if (windowed(j) == windowed(i)) return j;
  m.refuse("attention.shared_kv_layers", "leaves no layer with keys for layer " + std::to_string(i));
}

/// Queries, keys and values are normed, values without a gain; queries and keys are rotated, and scores are not scaled.
struct BorrowingAttention {
  Linear q, k, v, o;
  RmsNorm q_norm, k_norm;
  Rope rope;
  AttendSpec spec;
  int kept_by;

  BorrowingAttention(const Weights& w, const Shape& s, const Attention::Spec& how, bool borrows, int keeper)
      : q(w, "attn_q", s.dim, std::int64_t(s.heads) * s.head_dim),
        o(w, "attn_output", std::int64_t(s.heads) * s.value_dim, s.dim),
        q_norm(w, "attn_q_norm", s.head_dim, s.eps),
        rope(how.rope),
        spec(how.attend),
        kept_by(keeper) {
    spec.scale = 1;
    if (borrows) return;
    k = Linear(w, "attn_k", s.dim, std::int64_t(s.kv_heads) * s.head_dim);
    v = Linear::maybe(w, "attn_v", s.dim, std::int64_t(s.kv_heads) * s.value_dim);
    k_norm = RmsNorm(w, "attn_k_norm", s.head_dim, s.eps);
  }
  Tensor operator()(const Tensor& x) const {
    const auto queries = q_norm(q(x).split(spec.heads));
    rope(queries);
    if (!k) return o(x.step->attend(kept_by, queries, {}, {}, spec));
    const auto raw = k(x).split(spec.kv_heads), keys = k_norm(raw);
    rope(keys);
    const auto values = x.step->norm(INLAY_NORM_RMS, v ? v(x).split(spec.kv_heads) : raw, {}, {}, k_norm.eps);
    return o(x.step->attend(kept_by, queries, keys, values, spec));
  }
  Cache cache() const {
    if (!k) return {};
    return {.kv_heads = spec.kv_heads, .head_dim = spec.head_dim, .value_dim = spec.value_dim};
  }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
