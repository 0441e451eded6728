// Multi-head latent attention: keys and values of all heads are read from one short latent. DeepSeek-AI 2024.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// The absorbed form: the cache holds the latent c and one rotated key only; q'_h = K_bᵀ q_h meets c directly, and
/// V_b turns each head's weighted sum of c into its output. In files whose K_b and V_b are one matrix "attn_kv_b", the
/// plain form: keys and values of every head are computed and kept. Some models add a norm of the rotated key, sinks,
/// and gates that the input opens, for each head's output or each number of it.
struct INLAY_API LatentAttention {
  std::int64_t heads, latent, plain, rotated, value;  ///< sizes of a head: unrotated, rotated, value
  Linear q, q_a, q_b, kv_a, kv_b, gate, o;
  RmsNorm q_a_norm, kv_a_norm, k_norm;
  Tensor k_b, v_b, temperature, sinks;
  Rope rope;
  float scale;
  int window = 0;

  /// The sizes of windowed layers may stand under keys of their own, which end in `suffix`.
  LatentAttention(const Weights& w, const Metadata& m, const Shape& s, Pairing pairing, const std::string& suffix = {});
  Tensor operator()(const Tensor& x, int layer) const { return (*this)(x, low(x), {}, layer); }
  /// What queries are made of: x brought to a low rank and normed, or x where the file has one matrix.
  Tensor low(const Tensor& x) const { return q ? x : q_a_norm(q_a(x)); }
  /// The same with low(x), over the keys that are chosen, see Step::choose; none: over all.
  Tensor operator()(const Tensor& x, const Tensor& low, const Tensor& chosen, int layer) const;
  Cache cache() const {
    if (kv_b) return {.kv_heads = int(heads), .head_dim = int(plain + rotated), .value_dim = int(value)};
    return {.kv_heads = 1, .head_dim = int(latent + rotated), .value_dim = int(latent), .latent = true};
  }

 private:
  AttendSpec spec(const Tensor& chosen) const;
  Tensor absorbed(const Tensor& query, const Tensor& c, const Tensor& key, const AttendSpec&, int layer) const;
  Tensor expanded(const Tensor& query, const Tensor& c, const Tensor& key, const AttendSpec&, int layer) const;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
