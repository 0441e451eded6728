// Attention and the gated MLP: reading their weights, fused or apart, and their projections.
#include "inlay/nn/blocks.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

std::int64_t value_width(const AttendSpec& a) { return a.kv_heads * std::int64_t(a.value_dim ? a.value_dim : a.head_dim); }

}  // namespace

Attention::Attention(const Weights& w, const Spec& s) : spec(s) {
  const auto& a = s.attend;
  const std::int64_t query_width = std::int64_t(a.heads) * a.head_dim, key_width = std::int64_t(a.kv_heads) * a.head_dim;
  if (w.has("attn_qkv.weight")) {
    qkv = Linear(w, "attn_qkv", s.dim, query_width + key_width + value_width(a));
  } else {
    q = Linear(w, "attn_q", s.dim, query_width);
    k = Linear(w, "attn_k", s.dim, key_width);
    v = Linear(w, "attn_v", s.dim, value_width(a));
  }
  o = Linear(w, "attn_output", std::int64_t(a.heads) * (a.value_dim ? a.value_dim : a.head_dim), s.dim);
  if (w.shape("attn_q_norm.weight") == std::vector<std::int64_t>{a.head_dim}) {
    q_norm = RmsNorm(w, "attn_q_norm", a.head_dim, s.norm_eps);
    k_norm = RmsNorm(w, "attn_k_norm", a.head_dim, s.norm_eps);
  }
}

Attention::Heads Attention::project(const Tensor& x) const {
  const auto& a = spec.attend;
  if (!qkv) {
    const auto queries = q(x), keys = k(x), values = v(x);
    return {queries.split(a.heads), keys.split(a.kv_heads), values.split(a.kv_heads)};
  }
  const std::int64_t query_width = std::int64_t(a.heads) * a.head_dim, key_width = std::int64_t(a.kv_heads) * a.head_dim;
  const auto all = qkv(x);
  return {all.columns(0, query_width).split(a.heads), all.columns(query_width, key_width).split(a.kv_heads),
          all.columns(query_width + key_width, value_width(a)).split(a.kv_heads)};
}

GatedMlp::GatedMlp(const Weights& w, std::int64_t dim, std::int64_t width, Act a, const std::string& suffix)
    : act(a), hidden(width) {
  if (w.has("ffn_gate" + suffix + ".weight")) {
    gate = Linear(w, "ffn_gate" + suffix, dim, hidden);
    up = Linear(w, "ffn_up" + suffix, dim, hidden);
  } else {
    up = Linear(w, "ffn_up" + suffix, dim, 2 * hidden);
  }
  down = Linear(w, "ffn_down" + suffix, hidden, dim);
}

Tensor GatedMlp::operator()(const Tensor& x) const {
  if (gate) {
    const auto gated = gate(x);
    return down(x.step->glu(act, gated, up(x)));
  }
  const auto both = up(x);
  return down(x.step->glu(act, both.columns(0, hidden), both.columns(hidden, hidden)));
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
