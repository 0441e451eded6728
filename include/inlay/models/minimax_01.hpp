// MiniMax 01: lightning attention, which has a state instead of keys, on seven of eight layers, and experts.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// q, k, v = silu(W x);  S = e^-rate S + k v';  y = o(sigmoid(gate(x)) * norm(S'q)). Qin et al. 2024.
struct LightningAttention {
  std::int64_t heads, size;
  nn::Linear qkv, gate, o;
  nn::RmsNorm norm;
  nn::Tensor decay;

  LightningAttention(const nn::Weights& w, const nn::Shape& s, int layer)
      : heads(s.heads),
        size(s.head_dim),
        qkv(w, "attn_qkv", s.dim, 3 * heads * size),
        gate(w, "attn_gate", s.dim, heads * size),
        o(w, "attn_output", heads * size, s.dim),
        norm(w, "attn_norm_2", heads * size, 1e-6f) {
    const double first = std::exp2(-8.0 / double(heads));
    const double share = 1 - double(layer) / std::max(1, s.layers - 1) + 1e-5;
    std::vector<float> rates;  // the scan keeps exp(-exp(rate)) of its state
    for (int h = 1; h <= heads; ++h) rates.push_back(float(std::log(std::pow(first, h) * share)));
    decay = w.constant(rates).view_as({heads, 1}, {1, 1});
  }

  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    const auto all = x.step->glu(nn::Act::silu, qkv(x), {}).split(heads);
    auto y = x.step
                 ->scan(INLAY_SCAN_RETENTION, layer, all.columns(2 * size, size),
                        {all.columns(0, size), all.columns(size, size), decay}, {x.rows(), heads, size}, int(heads))
                 .join();
    y *= std::sqrt(float(size));  // which the scan divides by
    return o(x.step->glu(nn::Act::sigmoid, gate(x), norm(y)));
  }

  nn::Cache cache() const { return {.state_bytes = heads * size * size * 4}; }
};

/// h = norm(x);  x = mixer(h) + r h;  h = norm(x);  x = experts(h) + r h
struct Minimax01Layer : nn::PreNormLayer<nn::RmsNorm, nn::Moe, nn::AttentionOr<nn::Attention, LightningAttention>> {
  float residual;
  Minimax01Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, mixer(w, m, s, i), nn::Moe(w, m, s, {.hidden = s.hidden, .normalise = true})),
        residual(m.real("residual_scale")) {}

  void operator()(nn::Tensor& x, int i) const {
    const auto h = attn_norm(x);
    x.step->copy(x.step->binary(INLAY_BINARY_ADD, attention(h, i), h, residual), x);
    const auto g = mlp_norm(x);
    x.step->copy(x.step->binary(INLAY_BINARY_ADD, feed(g), g, residual), x);
  }

  static nn::AttentionOr<nn::Attention, LightningAttention> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                                  const nn::Shape& s, int i) {
    const int interval = std::max(1, m.integer("full_attention_interval", 8));
    if (m.flag("attention.recurrent_layers", i, (i + 1) % interval != 0)) return LightningAttention(w, s, i);
    return nn::Attention(w, s.attention(w, m, nn::Pairing::halves));
  }
};

struct Minimax01 : nn::Decoder<Minimax01Layer> {
  static constexpr std::string_view name = "minimax-01";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
