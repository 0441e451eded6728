// Kimi Delta Attention: its weights, its convolutions and both forms of its decay.
#include "inlay/nn/kimi_delta.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

KimiDelta::KimiDelta(const Weights& w, const Metadata& m, const Shape& s)
    : heads(s.heads),
      head(m.integer("kda.head_dim")),
      taps(m.integer("ssm.conv_kernel")),
      bound(m.real("kda.gate_lower_bound", 0)) {
  if (head < 1 || head > (1 << 14)) m.refuse("kda.head_dim", "is out of range");
  if (taps < 1 || taps > 64) m.refuse("ssm.conv_kernel", "must be from 1 to 64");
  if (!(bound <= 0)) m.refuse("kda.gate_lower_bound", "must be below 0");
  const auto all = heads * head;
  q = Linear(w, "attn_q", s.dim, all), k = Linear(w, "attn_k", s.dim, all);
  v = Linear(w, "attn_v", s.dim, all), o = Linear(w, "attn_output", all, s.dim);
  const char* names[] = {"ssm_conv1d_q.weight", "ssm_conv1d_k.weight", "ssm_conv1d_v.weight"};
  for (int i = 0; i < 3; ++i) convs[i] = w(names[i], {all, taps});
  const bool low = w.has("ssm_f_b.weight"), gate_low = w.has("ssm_g_b.weight");
  decay_a = Linear(w, "ssm_f_a", s.dim, low ? head : all), decay_b = Linear::maybe(w, "ssm_f_b", head, all);
  gate_a = Linear(w, "ssm_g_a", s.dim, gate_low ? head : all), gate_b = Linear::maybe(w, "ssm_g_b", head, all);
  beta = Linear(w, "ssm_beta", s.dim, heads);
  rate = w("ssm_a", {heads}), bias = w("ssm_dt.bias", {all});
  norm = RmsNorm(w, "ssm_norm", head, s.eps);
  if (bound == 0) return;
  std::vector<float> rates;  // one for each channel
  for (std::int64_t h = 0; h < heads; ++h)
    rates.insert(rates.end(), std::size_t(head), static_cast<const float*>(rate.view.data)[h]);
  rate = w.constant(rates).view_as({1, all}, {all, 1});
}

Tensor KimiDelta::mixed(const Tensor& x, int which, int layer) const {
  return x.step
      ->scan(INLAY_SCAN_CONV, layer, x, {convs[which]}, {x.rows(), x.cols()}, 1, 1, Act::silu, 0, which * conv_bytes())
      .split(heads);
}

Tensor KimiDelta::decays(const Tensor& x) const {
  const auto f = decay_b ? decay_b(decay_a(x)) : decay_a(x);
  if (bound == 0) return f.split(heads);
  auto g = x.step->glu(Act::sigmoid, (f + bias.view_as({1, f.cols()}, {f.cols(), 1})) * rate, {});
  return (g *= bound).split(heads);
}

Tensor KimiDelta::operator()(const Tensor& x, int layer) const {
  constexpr float key_eps = 1e-6f;
  const auto queries = mixed(q(x), 0, layer), keys = mixed(k(x), 1, layer), values = mixed(v(x), 2, layer);
  const auto kept = decays(x), rates = beta(x).split(heads);
  const auto y = x.step->scan(INLAY_SCAN_GATED_DELTA, layer, values,
                              {queries, keys, kept, rates, bound == 0 ? rate : Tensor(), bound == 0 ? bias : Tensor()},
                              {x.rows(), heads, head}, int(heads), 1, Act::none, key_eps, 3 * conv_bytes());
  const auto gates = gate_b ? gate_b(gate_a(x)) : gate_a(x);
  return o(x.step->glu(Act::sigmoid, gates.split(heads), norm(y)).join());
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
