// Latent attention, absorbed and plain.
#include "inlay/nn/mla.hpp"

#include <cmath>

#include "inlay/nn/gated.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr float latent_eps = 1e-6f;  // of the norms of latents, whatever the file's other norms have

}  // namespace

LatentAttention::LatentAttention(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing,
                                 const std::string& suffix)
    : heads(s.heads),
      latent(m.integer("attention.kv_lora_rank" + suffix)),
      rotated(s.rope_dims),
      rope(s.rope(w, m, pairing)) {
  const int whole = m.integer("attention.key_length_mla" + suffix, m.integer("attention.key_length"));
  value = m.integer("attention.value_length_mla" + suffix, m.integer("attention.value_length", s.dim / s.heads));
  plain = whole - rotated;
  if (plain < 1 || value < 1 || latent < 1 || rotated < 2)
    m.refuse("attention.key_length_mla", "does not fit the other sizes");
  const auto query = heads * (plain + rotated);
  if (w.has("attn_q_a.weight") || w.has("attn_q_b.weight")) {
    const auto rank = m.integer("attention.q_lora_rank");
    q_a = Linear(w, "attn_q_a", s.dim, rank), q_a_norm = RmsNorm(w, "attn_q_a_norm", rank, latent_eps),
    q_b = Linear(w, "attn_q_b", rank, query);
  } else {
    q = Linear(w, "attn_q", s.dim, query);
  }
  kv_a = Linear(w, "attn_kv_a_mqa", s.dim, latent + rotated);
  kv_a_norm = RmsNorm(w, "attn_kv_a_norm", latent, latent_eps);
  if (w.has("attn_kv_b.weight") || !(w.has("attn_k_b.weight") || w.has("attn_v_b.weight"))) {
    kv_b = Linear(w, "attn_kv_b", latent, heads * (plain + value));
  } else {
    k_b = w.matrix("attn_k_b.weight", {heads, latent, plain});
    v_b = w.matrix("attn_v_b.weight", {heads, value, latent});
  }
  o = Linear(w, "attn_output", heads * value, s.dim);
  temperature = temperatures(w, m, "attention.temperature_length");
  // YaRN's factor on the scores stands in the scale; cos and sin stay as they are.
  float growth = 1;
  if (m.text("rope.scaling.type", "none") == "yarn") {
    growth += m.real("rope.scaling.yarn_log_multiplier", 0) * std::log(m.real("rope.scaling.factor", 1));
    rope.magnitude = 1;
  }
  scale = growth * growth / std::sqrt(float(plain + rotated));
}

AttendSpec LatentAttention::spec(const Tensor& chosen) const {
  AttendSpec spec{.heads = int(heads), .scale = scale, .window = window, .sinks = sinks, .choice = chosen};
  if (kv_b)
    spec.kv_heads = int(heads), spec.head_dim = int(plain + rotated), spec.value_dim = int(value);
  else
    spec.kv_heads = 1, spec.head_dim = int(latent + rotated), spec.value_dim = int(latent), spec.latent = true;
  return spec;
}

Tensor LatentAttention::operator()(const Tensor& x, const Tensor& low, const Tensor& chosen, int layer) const {
  const auto query = tempered((q ? q(low) : q_b(low)).split(heads), temperature);
  const auto both = kv_a(x);
  const auto c = kv_a_norm(both.columns(0, latent));
  auto key = both.columns(latent, rotated);
  key = (k_norm ? k_norm(key) : key).split(1);
  rope(query.columns(plain, rotated));
  rope(key);
  const auto y = kv_b ? expanded(query, c, key, spec(chosen), layer) : absorbed(query, c, key, spec(chosen), layer);
  return o(gate ? gated(y, x.step->glu(Act::sigmoid, gate(x), {})) : y);
}

Tensor LatentAttention::absorbed(const Tensor& query, const Tensor& c, const Tensor& key, const AttendSpec& how,
                                 int layer) const {
  auto& step = *query.step;
  const auto q_all = step.scratch({query.rows(), heads, latent + rotated}),
             k_all = step.scratch({query.rows(), 1, latent + rotated});
  step.linear_into(q_all.columns(0, latent), query.columns(0, plain), k_b);
  step.copy(query.columns(plain, rotated), q_all.columns(latent, rotated));
  step.copy(c.split(1), k_all.columns(0, latent));
  step.copy(key, k_all.columns(latent, rotated));
  return step.linear(step.attend(layer, q_all, k_all, {}, how).split(heads), v_b).join();
}

Tensor LatentAttention::expanded(const Tensor& query, const Tensor& c, const Tensor& key, const AttendSpec& how,
                                 int layer) const {
  auto& step = *query.step;
  const auto rows = query.rows(), row = key.view.stride[0] / std::int64_t(sizeof(float));
  const auto kv = kv_b(c).split(heads), k_all = step.scratch({rows, heads, plain + rotated});
  step.copy(kv.columns(0, plain), k_all.columns(0, plain));
  step.copy(key.view_as({rows, heads, rotated}, {row, 0, 1}), k_all.columns(plain, rotated));
  return step.attend(layer, query, k_all, kv.columns(plain, value), how);
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
