// Attention, the gated MLP and capped logits: reading weights, fused or apart, and what is computed with them.
#include "inlay/nn/blocks.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

std::int64_t value_width(const AttendSpec& a) {
  return a.kv_heads * std::int64_t(a.value_dim ? a.value_dim : a.head_dim);
}

// One number a head, as often as the head is long.
Tensor repeated(const Weights& w, const Tensor& each, int heads, int head_dim) {
  std::vector<float> all;
  for (int h = 0; h < heads; ++h)
    all.insert(all.end(), std::size_t(head_dim), static_cast<const float*>(each.view.data)[h]);
  return w.constant(all).view_as({heads, head_dim}, {head_dim, 1});
}

Tensor of_heads(const Weights& w, const std::string& name, int heads, int head_dim) {
  const auto shape = w.shape(name);
  if (shape.size() == 2 && shape[1] == 1) return repeated(w, w(name, {heads, 1}), heads, head_dim);
  if (shape.size() == 2) return w(name, {heads, head_dim});
  if (shape.size() == 1 && shape[0] == head_dim) return w(name, {head_dim});
  return w.maybe(name, {std::int64_t(heads) * head_dim});
}

}  // namespace

Attention::Attention(const Weights& w, const Spec& s) : spec(s) {
  const auto& a = s.attend;
  const std::int64_t query_width = std::int64_t(a.heads) * a.head_dim,
                     key_width = std::int64_t(a.kv_heads) * a.head_dim;
  if (w.has("attn_qkv.weight") || !(w.has("attn_q.weight") || w.has("attn_k.weight"))) {
    qkv = Linear(w, "attn_qkv", s.dim, query_width + key_width + value_width(a));
  } else {
    q = Linear(w, "attn_q", s.dim, query_width);
    k = Linear(w, "attn_k", s.dim, key_width);
    v = Linear(w, "attn_v", s.dim, value_width(a));
  }
  o = Linear(w, w.has("attn_o.weight") ? "attn_o" : "attn_output",
             std::int64_t(a.heads) * (a.value_dim ? a.value_dim : a.head_dim), s.dim);
  q_gain = of_heads(w, "attn_q_norm.weight", a.heads, a.head_dim);
  k_gain = of_heads(w, "attn_k_norm.weight", a.kv_heads, a.head_dim);
  q_bias = of_heads(w, "attn_q_norm.bias", a.heads, a.head_dim);
  k_bias = of_heads(w, "attn_k_norm.bias", a.kv_heads, a.head_dim);
}

Attention::Heads Attention::multiply(const Tensor& x) const {
  const auto& a = spec.attend;
  if (!qkv) {
    const auto queries = q(x), keys = k(x), values = v(x);
    return {queries.split(a.heads), keys.split(a.kv_heads), values.split(a.kv_heads)};
  }
  const std::int64_t query_width = std::int64_t(a.heads) * a.head_dim,
                     key_width = std::int64_t(a.kv_heads) * a.head_dim;
  const auto all = qkv(x);
  return {all.columns(0, query_width).split(a.heads), all.columns(query_width, key_width).split(a.kv_heads),
          all.columns(query_width + key_width, value_width(a)).split(a.kv_heads)};
}

// A gain of another width than a head's is over the heads joined.
Tensor Attention::normed(const Tensor& heads, const Tensor& gain, const Tensor& bias) const {
  if (!gain) return heads;
  if (gain.cols() == heads.cols()) return heads.step->norm(spec.norm, heads, gain, bias, spec.norm_eps);
  return heads.step->norm(spec.norm, heads.join(), gain, bias, spec.norm_eps).split(heads.view.shape[1]);
}

Attention::Heads Attention::project(const Tensor& x) const {
  auto heads = multiply(x);
  if (spec.clamp > 0)
    for (auto* t : {&heads.q, &heads.k, &heads.v}) *t = x.step->glu(Act::clamp, *t, {}, 0, spec.clamp);
  const auto norm_both = [&] { heads.q = normed(heads.q, q_gain, q_bias), heads.k = normed(heads.k, k_gain, k_bias); };
  if (!spec.norm_after_rope) norm_both();
  spec.rope(heads.q);
  spec.rope(heads.k);
  if (spec.norm_after_rope) norm_both();
  heads.q = tempered(heads.q, temperature);
  return heads;
}

Tensor tempered(const Tensor& queries, const Tensor& table) {
  if (!table) return queries;
  return (queries.join() * queries.step->embed_positions(table)).split(queries.view.shape[1]);
}

GatedMlp::GatedMlp(const Weights& w, std::int64_t dim, std::int64_t width, Act a, const std::string& suffix)
    : act(a), hidden(width) {
  const auto shape = w.shape("ffn_up" + suffix + ".weight");
  const bool apart = w.has("ffn_gate" + suffix + ".weight") || (!shape.empty() && shape[0] == hidden);
  if (apart) gate = Linear(w, "ffn_gate" + suffix, dim, hidden);
  up = Linear(w, "ffn_up" + suffix, dim, apart ? hidden : 2 * hidden);
  down = Linear(w, "ffn_down" + suffix, hidden, dim);
}

Tensor GatedMlp::operator()(const Tensor& x) const {
  if (gate) {
    const auto gated = gate(x);
    return down(x.step->glu(act, gated, up(x), alpha, limit));
  }
  const auto both = up(x);
  return down(x.step->glu(act, both.columns(0, hidden), both.columns(hidden, hidden), alpha, limit));
}

Tensor softcapped(Tensor x, float cap) {
  if (cap == 0) return x;
  x *= 1 / cap;
  x = x.step->glu(Act::tanh, x, {});
  return x *= cap;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
