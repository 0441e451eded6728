// Multi-head latent attention: keys and values of all heads are read from one short latent. DeepSeek-AI 2024.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// The absorbed form: the cache holds the latent c and one rotated key only; q'_h = K_bᵀ q_h meets c directly, and
/// V_b turns each head's weighted sum of c into its output. In files whose K_b and V_b are one matrix "attn_kv_b", the
/// plain form: keys and values of every head are computed and kept.
struct INLAY_API LatentAttention {
  std::int64_t heads, latent, plain, rotated, value;  ///< sizes of a head: unrotated, rotated, value
  Linear q, q_a, q_b, kv_a, kv_b, o;
  RmsNorm q_a_norm, kv_a_norm;
  Tensor k_b, v_b, temperature;
  Rope rope;
  float scale;

  LatentAttention(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing);
  Tensor operator()(const Tensor& x, int layer) const;
  Cache cache() const {
    if (kv_b) return {.kv_heads = int(heads), .head_dim = int(plain + rotated), .value_dim = int(value)};
    return {.kv_heads = 1, .head_dim = int(latent + rotated), .value_dim = int(latent), .latent = true};
  }

 private:
  Tensor queries(const Tensor& x) const;
  Tensor absorbed(const Tensor& query, const Tensor& c, const Tensor& key, int layer) const;
  Tensor expanded(const Tensor& query, const Tensor& c, const Tensor& key, int layer) const;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
