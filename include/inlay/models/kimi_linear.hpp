// Kimi Linear: layers of gated deltas with a decay for each channel, and of latent attention without positions.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// q, k, v = silu(conv(W x)), q and k brought to length 1; S = e^g S + k beta (v - S'k)';  y = o(norm(S'q) *
/// sigmoid(gate)). Kimi Team 2025.
struct KimiDelta {
  std::int64_t heads, head, taps;
  nn::Linear q, k, v, decay_a, decay_b, beta, gate_a, gate_b, o;
  nn::Tensor convs[3], rate, bias;
  nn::RmsNorm norm;

  KimiDelta(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : heads(s.heads), head(m.integer("kda.head_dim")), taps(m.integer("ssm.conv_kernel")) {
    if (head < 1 || head > (1 << 14)) m.refuse("kda.head_dim", "is out of range");
    if (taps < 1 || taps > 64) m.refuse("ssm.conv_kernel", "must be from 1 to 64");
    const auto all = heads * head;
    q = nn::Linear(w, "attn_q", s.dim, all), k = nn::Linear(w, "attn_k", s.dim, all);
    v = nn::Linear(w, "attn_v", s.dim, all), o = nn::Linear(w, "attn_output", all, s.dim);
    const char* names[] = {"ssm_conv1d_q.weight", "ssm_conv1d_k.weight", "ssm_conv1d_v.weight"};
    for (int i = 0; i < 3; ++i) convs[i] = w(names[i], {all, taps});
    decay_a = nn::Linear(w, "ssm_f_a", s.dim, head), decay_b = nn::Linear(w, "ssm_f_b", head, all);
    gate_a = nn::Linear(w, "ssm_g_a", s.dim, head), gate_b = nn::Linear(w, "ssm_g_b", head, all);
    beta = nn::Linear(w, "ssm_beta", s.dim, heads);
    rate = w("ssm_a", {heads}), bias = w("ssm_dt.bias", {all});
    norm = nn::RmsNorm(w, "ssm_norm", head, s.eps);
  }

  std::int64_t conv_bytes() const { return (taps - 1) * heads * head * 4; }
  nn::Cache cache() const { return {.state_bytes = 3 * conv_bytes() + heads * head * head * 4}; }

  nn::Tensor mixed(const nn::Tensor& x, int which, int layer) const {
    return x.step
        ->scan(INLAY_SCAN_CONV, layer, x, {convs[which]}, {x.rows(), x.cols()}, 1, 1, nn::Act::silu, 0,
               which * conv_bytes())
        .split(heads);
  }
  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    const auto queries = mixed(q(x), 0, layer), keys = mixed(k(x), 1, layer), values = mixed(v(x), 2, layer);
    const auto decays = decay_b(decay_a(x)).split(heads), rates = beta(x).split(heads);
    constexpr float key_eps = 1e-6f;
    const auto y = x.step->scan(INLAY_SCAN_GATED_DELTA, layer, values, {queries, keys, decays, rates, rate, bias},
                                {x.rows(), heads, head}, int(heads), 1, nn::Act::none, key_eps, 3 * conv_bytes());
    return o(x.step->glu(nn::Act::sigmoid, gate_b(gate_a(x)).split(heads), norm(y)).join());
  }
};

/// x += mixer(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct KimiLinearLayer
    : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::AttentionOr<nn::LatentAttention, KimiDelta>> {
  KimiLinearLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, mixer(w, m, s),
                     nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID, .normalise = true})) {}

  static nn::AttentionOr<nn::LatentAttention, KimiDelta> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                               const nn::Shape& s) {
    if (s.kv_heads == 0) return KimiDelta(w, m, s);
    nn::LatentAttention attention(w, m, s, nn::Pairing::adjacent);
    attention.rope = {};
    return attention;
  }
};

struct KimiLinear : nn::Decoder<KimiLinearLayer> {
  static constexpr std::string_view name = "kimi-linear";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
