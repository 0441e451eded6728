// Mixers with a state instead of keys and values; first, what each kind of scan computes and keeps.
#pragma once

#include "inlay/nn/decoder.hpp"

/// inlay_scan_op walks the tokens of each sequence in order. `in` lists the inputs below in this order; one in brackets
/// may be missing (null, or beyond `n`). Activations are f32, weights are f32 as well. The state is f32, lies at the
/// cache's k_offset in the slot that the batch names, takes `state_bytes` = 4 bytes for each of its values, is all zero
/// before a sequence's first token, and is left behind for the next step, so chunks of any size give the same bits as
/// the whole. y may be x. T tokens, C channels, H heads, K size of a head's keys, V of its values, G groups, N state
/// width. Tensors [T,H,.] may be views of rank 3 or 4 whose outer dimensions count T*H rows; a stride of 0 repeats a
/// head, so one key head serves several value heads as [T,G,H/G,K] (neighbours share) or as [T,H/G,G,K] (head h uses h
/// mod G).
///
/// INLAY_SCAN_CONV, causal depthwise convolution; L taps:
///   x[T,C]; in: weight[C,L], [bias[C]]; state [L-1, C], the latest inputs, oldest first
///   y[t,c] = act(bias[c] + sum over k < L of weight[c,k] * x[t - (L-1) + k, c])
///
/// INLAY_SCAN_SELECTIVE, state-space layers; Mamba: H = C, K = 1, G = 1; Mamba-2: C = H*K and A[H,1]:
///   x[T,C]; in: dt[T,H], A[H,N] or [H,1], B[T,G*N], C[T,G*N], [D[H]], [dt_bias[H]]; state [H, K, N]
///   step = softplus(dt + dt_bias), group of head h: floor(h * G / H)
///   s[h,k,n] = s[h,k,n] * exp(step[h] * A[h,n]) + step[h] * x[h,k] * B[g,n]
///   y[h,k] = sum over n of s[h,k,n] * C[g,n] + D[h] * x[h,k]
///
/// INLAY_SCAN_GATED_DELTA, Gated DeltaNet and KDA:
///   x = v[T,H,V]; in: q[T,H,K], k[T,H,K], gate[T,H,1] or [T,H,K], beta[T,H,1], [A[H]], [gate_bias[H] or [H*K]];
///   state [H, K, V]. Where eps > 0, q and k are first divided by sqrt(sum of squares + eps), head by head.
///   S[i,:] = exp(A * softplus(gate[i] + gate_bias[i])) * S[i,:]; without A, exp(gate[i] + gate_bias[i]) * S[i,:]
///   S = S + k (sigmoid(beta) * (v - S'k))'
///   y[T,H,V] = S'q / sqrt(K)
///
/// INLAY_SCAN_RWKV6:
///   x = v[T,H,V]; in: r[T,H,K], k[T,H,K], decay[T,H,K], u[H,K]; state [H, K, V]; w = exp(-exp(decay))
///   y[j] = sum over i of r[i] * (u[i] * k[i] * v[j] + S[i,j]), then S[i,j] = w[i] * S[i,j] + k[i] * v[j]
///
/// INLAY_SCAN_RETENTION, gated linear attention:
///   x = v[T,H,V]; in: q[T,H,K], k[T,H,K], decay[T,H,K] or [T,H,1] or [H,1]; state [H, K, V]; w = exp(-exp(decay))
///   S[i,j] = w[i] * S[i,j] + k[i] * v[j], then y[j] = sum over i of q[i] * S[i,j] / sqrt(K)
///
/// INLAY_SCAN_RWKV7:
///   x = v[T,H,K]; in: r, k, decay, kappa, a, each [T,H,K]; state [H, K (value), K (key)];
///   w = exp(-0.606531 * sigmoid(decay)); kappa has length 1, a lies in 0 to 1
///   S[i,j] = w[j] * S[i,j] + v[i] * k[j] - (sum over l of S[i,l] * kappa[l]) * kappa[j] * a[j]
///   y[i] = sum over j of S[i,j] * r[j]
///
/// INLAY_SCAN_SHIFT, the token before:
///   x[T,C]; in: [mu[J,C]]; state [C], the latest input
///   y[t] = x[t-1]; with mu: y[T,J,C], y[t,j] = x[t] + (x[t-1] - x[t]) * mu[j]

namespace inlay {
inline namespace v0 {
namespace nn {

/// The sizes that files with state-space layers state.
struct INLAY_API SsmShape {
  std::int64_t taps, inner, state, rank, groups;  ///< groups: 1 where the file has 0 or none
  explicit SsmShape(const Metadata& m);
  std::int64_t conv_bytes(std::int64_t channels) const { return (taps - 1) * channels * 4; }
};

/// Mamba's selective state space (Gu and Dao 2023).
struct INLAY_API Mamba {
  SsmShape s;
  Linear in, parts, step_size, out;
  Tensor conv, conv_bias, a, d;
  RmsNorm step_norm, b_norm, c_norm;  ///< Jamba's; weightless where "ssm.dt_b_c_rms"
  bool normed;

  Mamba(const Weights& w, const Metadata& m, std::int64_t dim, float eps);
  Tensor operator()(const Tensor& x, int layer) const;
  Cache cache() const { return {.state_bytes = s.conv_bytes(s.inner) + s.inner * s.state * 4}; }
};

/// Mamba-2: one decay for each head, B and C shared by groups of heads (Dao and Gu 2024).
struct INLAY_API Mamba2 {
  SsmShape s;
  std::int64_t heads, channels;
  Linear in, out;
  Tensor conv, conv_bias, a, d, step_bias, gain;
  float eps;

  Mamba2(const Weights& w, const Metadata& m, std::int64_t dim, float eps);
  Tensor operator()(const Tensor& x, int layer) const;
  Cache cache() const { return {.state_bytes = s.conv_bytes(channels) + s.inner * s.state * 4}; }
};

/// LFM2's short convolution: out(c * conv(b * x)).
struct INLAY_API ShortConvolution {
  std::int64_t dim, taps;
  Linear in, out;
  Tensor conv;

  ShortConvolution(const Weights& w, const Metadata& m, std::int64_t dim);
  Tensor operator()(const Tensor& x, int layer) const;
  Cache cache() const { return {.state_bytes = (taps - 1) * dim * 4}; }
};

/// Gated DeltaNet (Yang, Kautz and Hatamizadeh 2024), as Qwen 3 Next and 3.5 use it.
struct INLAY_API GatedDelta {
  /// Which key head serves value head h: floor(h / (value heads / key heads)), or h mod key heads.
  enum class Sharing { neighbours, strided };
  SsmShape s;
  Sharing sharing;
  std::int64_t key_heads, value_heads, key_dim, value_dim, channels;
  Linear qkv, z, beta_alpha, beta, alpha, out;
  Tensor conv, a, step_bias;
  RmsNorm norm;

  GatedDelta(const Weights& w, const Metadata& m, std::int64_t dim, float eps, Sharing sharing);
  Tensor operator()(const Tensor& x, int layer) const;
  Cache cache() const { return {.state_bytes = s.conv_bytes(channels) + value_heads * key_dim * value_dim * 4}; }

 private:
  Tensor shared(const Tensor& keys) const;  ///< key heads as many as value heads, without a copy
};

/// RWKV's: the size of a head of its state, and the constant of the norm over each head.
INLAY_API std::int64_t wkv_head(const Metadata& m, const Shape& s);
inline constexpr float wkv_eps = 64e-5f;

/// y = base + second(act(first(x))), with matrices "<name>1" and "<name>2" of low rank.
struct INLAY_API LowRank {
  Linear first, second;
  Tensor base;  ///< "<name>0", or none
  LowRank(const Weights& w, const std::string& name, std::int64_t dim);
  Tensor operator()(const Tensor& x, Act act) const;
};

/// v times the sum of a * b over each head: retention of the number 1 that forgets all that was.
struct INLAY_API HeadSums {
  std::int64_t heads, head;
  Tensor one, rate;
  HeadSums(const Weights& w, std::int64_t heads, std::int64_t head);
  Tensor times(const Tensor& v, const Tensor& a, const Tensor& b, int layer, std::int64_t state_offset) const;
};

/// The token before x less x, with the latest input in the layer's state from `state_offset` on.
INLAY_API Tensor token_shift(const Tensor& x, int layer, std::int64_t state_offset = 0);

}  // namespace nn
}  // namespace v0
}  // namespace inlay
