// RetNet in its recurrent form: attention without softmax that forgets at one rate a head. Sun et al. 2023.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// out(silu(gate(x)) * norm(retain(q, k, v))) with S = gamma S + k v', y = S'q / sqrt(K), gamma = 1 - 2^(-5 - head);
/// queries and keys are rotated, and each head's result is normed by itself.
struct Retention {
  std::int64_t heads, key_dim, value_dim;
  nn::Linear q, k, v, gate, out;
  nn::Rope rope;
  nn::Tensor decay;
  float eps;

  Retention(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : heads(s.heads),
        key_dim(s.head_dim),
        value_dim(s.value_dim),
        q(w, "attn_q", s.dim, heads * key_dim),
        k(w, "attn_k", s.dim, heads * key_dim),
        v(w, "attn_v", s.dim, heads * value_dim),
        gate(w, "attn_gate", s.dim, heads * value_dim),
        out(w, "attn_output", heads * value_dim, s.dim),
        rope(s.rope(w, m, nn::Pairing::adjacent)),
        eps(m.real("attention.group_norm_epsilon", s.eps)) {
    std::vector<float> rates;  // the scan keeps exp(-exp(rate)) of its state
    rates.reserve(std::size_t(heads));
    for (int h = 0; h < heads; ++h) rates.push_back(float(std::log(-std::log1p(-std::exp2(-5.0 - h)))));
    decay = w.constant(rates).view_as({heads, 1}, {1, 1});
  }

  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    const auto queries = q(x).split(heads), keys = k(x).split(heads), values = v(x).split(heads);
    rope(queries);
    rope(keys);
    const auto y = x.step->scan(INLAY_SCAN_RETENTION, layer, values, {queries, keys, decay},
                                {x.rows(), heads, value_dim}, int(heads));
    const auto normed = x.step->norm(INLAY_NORM_LAYER, y, {}, {}, eps).join();
    return out(x.step->glu(nn::Act::silu, gate(x), normed));
  }

  nn::Cache cache() const { return {.state_bytes = heads * key_dim * value_dim * 4}; }
};

/// x += retention(norm(x));  x += mlp(norm(x))
struct RetNetLayer : nn::PreNormLayer<nn::LayerNorm, nn::Mlp, Retention> {
  RetNetLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, Retention(w, m, s), nn::Mlp(w, s.dim, s.hidden, nn::Act::gelu)) {}
};

/// Keys: context_length, embedding_length, block_count, feed_forward_length, attention.head_count, key_length,
/// value_length, layer_norm_epsilon and group_norm_epsilon, rope.freq_base and rope.dimension_count, as elsewhere.
struct RetNet : nn::Decoder<RetNetLayer, nn::LayerNorm> {
  static constexpr std::string_view name = "retnet";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
