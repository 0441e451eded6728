// The parts that models are made of. Each reads its own weights; each optional
// weight that the file lacks switches its own term off.
#pragma once

#include "inlay/nn/weights.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// y[T, out] = scale * x[T, in] · weightᵀ + bias
struct INLAY_API Linear {
  Tensor weight, bias;
  float scale = 1;
  Linear() = default;
  Linear(const Weights& w, const std::string& name, std::int64_t in, std::int64_t out)
      : weight(w.matrix(name + ".weight", {out, in})), bias(w.maybe(name + ".bias", {out})), scale(w.scale(name)) {}
  /// The same, or a skipped block where the file has none.
  static Linear maybe(const Weights& w, const std::string& name, std::int64_t in, std::int64_t out) {
    return w.has(name + ".weight") ? Linear(w, name, in, out) : Linear();
  }
  explicit operator bool() const noexcept { return bool(weight); }
  Tensor operator()(const Tensor& x) const { return x.step->linear(x, weight, bias, scale); }
};

/// y = gain * x / sqrt(mean(x²) + eps). Zhang and Sennrich 2019. Some files have gains without ".weight" in the name.
struct RmsNorm {
  Tensor gain;
  float eps = 0;
  RmsNorm() = default;
  RmsNorm(const Weights& w, const std::string& name, std::int64_t dim, float epsilon)
      : gain(w(w.has(name) ? name : name + ".weight", {dim})), eps(epsilon) {}
  static RmsNorm maybe(const Weights& w, const std::string& name, std::int64_t dim, float epsilon) {
    return w.has(name + ".weight") ? RmsNorm(w, name, dim, epsilon) : RmsNorm();
  }
  explicit operator bool() const noexcept { return bool(gain); }
  Tensor operator()(const Tensor& x) const { return x.step->norm(INLAY_NORM_RMS, x, gain, {}, eps); }
};

/// The same without a gain, in models that have none.
struct UnitRms : RmsNorm {
  UnitRms(const Weights&, const std::string&, std::int64_t, float epsilon) { eps = epsilon; }
};

/// y = gain * (x - mean(x)) / sqrt(var(x) + eps) + bias. Ba, Kiros and Hinton 2016.
struct LayerNorm {
  Tensor gain, bias;
  float eps = 0;
  LayerNorm() = default;
  LayerNorm(const Weights& w, const std::string& name, std::int64_t dim, float epsilon)
      : gain(w(name + ".weight", {dim})), bias(w.maybe(name + ".bias", {dim})), eps(epsilon) {}
  static LayerNorm maybe(const Weights& w, const std::string& name, std::int64_t dim, float epsilon) {
    return w.has(name + ".weight") ? LayerNorm(w, name, dim, epsilon) : LayerNorm();
  }
  explicit operator bool() const noexcept { return bool(gain); }
  Tensor operator()(const Tensor& x) const { return x.step->norm(INLAY_NORM_LAYER, x, gain, bias, eps); }
};

/// The same, or a skipped block where the file has none.
struct MaybeLayerNorm : LayerNorm {
  MaybeLayerNorm(const Weights& w, const std::string& name, std::int64_t dim, float epsilon) {
    gain = w.maybe(name + ".weight", {dim}), bias = w.maybe(name + ".bias", {dim}), eps = epsilon;
  }
};

/// The same without gain and bias, in models that have none.
struct PlainLayerNorm : LayerNorm {
  PlainLayerNorm(const Weights&, const std::string&, std::int64_t, float epsilon) { eps = epsilon; }
};

/// y[T, dim] = scale * table[tokens]
struct Embedding {
  Tensor table;
  float scale = 1;
  Embedding(const Weights& w, const std::string& name, std::int64_t vocabulary, std::int64_t dim)
      : table(w.table(name + ".weight", {vocabulary, dim})) {}
  Tensor operator()(Step& step) const {
    auto y = step.embed(table);
    return scale == 1 ? y : y *= scale;
  }
};

/// Queries, keys and values of one layer, its rotation, and the projection back. The three projections may be one fused
/// matrix in the file ("attn_qkv"), with rows in that order. Queries and keys are normed before the rotation where the
/// file has gains: one [K] for all heads, one for each head [H, K] or [H, 1], or one over the whole width [H*K]; biases
/// of the norms alike.
struct INLAY_API Attention {
  struct Spec {
    std::int64_t dim = 0;
    AttendSpec attend;
    Rope rope;
    float norm_eps = 1e-6f;
    inlay_norm_kind norm = INLAY_NORM_RMS;
    bool norm_after_rope = false;
    float clamp = 0;  ///< queries, keys and values are clamped to +-clamp; 0: not
  };
  Spec spec;
  Linear q, k, v, qkv, o;
  Tensor q_gain, k_gain, q_bias, k_bias;
  Tensor temperature;  ///< what queries are multiplied with at each position, [context, 1]; none: 1

  Attention(const Weights& w, const Spec& s);

  struct Heads {
    Tensor q, k, v;
  };                                     ///< [T, H, K], [T, G, K], [T, G, Kv]
  Heads project(const Tensor& x) const;  ///< matrix and bias, clamp, norms, rotation, temperature
  Tensor attend(const Heads& heads, int layer) const {
    return heads.q.step->attend(layer, heads.q, heads.k, heads.v, spec.attend);
  }
  Tensor operator()(const Tensor& x, int layer) const { return o(attend(project(x), layer)); }

  Cache cache() const {
    const auto& a = spec.attend;
    return {.kv_heads = a.kv_heads, .head_dim = a.head_dim, .value_dim = a.value_dim ? a.value_dim : a.head_dim};
  }

 private:
  Heads multiply(const Tensor& x) const;
  Tensor normed(const Tensor& heads, const Tensor& gain, const Tensor& bias) const;
};

/// Queries [T, H, K] times the factor of their position, from a table [context, 1]; as they are where there is none.
INLAY_API Tensor tempered(const Tensor& queries, const Tensor& table);

/// y = down(act(gate(x)) * up(x)). Shazeer 2020. Files may hold gate and up as one matrix "ffn_up" of 2·hidden rows.
struct INLAY_API GatedMlp {
  Linear gate, up, down;
  Act act = Act::silu;
  float alpha = 0, limit = 0;  ///< of the activation
  std::int64_t hidden = 0;
  GatedMlp() = default;
  GatedMlp(const Weights& w, std::int64_t dim, std::int64_t hidden, Act a = Act::silu, const std::string& suffix = {});
  Tensor operator()(const Tensor& x) const;
};

/// y = down(act(up(x)))
struct Mlp {
  Linear up, down;
  Act act;
  Mlp(const Weights& w, std::int64_t dim, std::int64_t hidden, Act a)
      : up(w, "ffn_up", dim, hidden), down(w, "ffn_down", hidden, dim), act(a) {}
  Tensor operator()(const Tensor& x) const { return down(x.step->glu(act, up(x), {})); }
};

/// cap * tanh(x / cap), in place; cap 0: x.
INLAY_API Tensor softcapped(Tensor x, float cap);

/// The last norm and the projection to the vocabulary, scaled, then capped; tied to the embedding where the file has no
/// output of its own. A file that judges texts projects to its answers instead: "cls.output".
template <class Norm>
struct HeadOf {
  Norm norm;
  Tensor output, bias;
  float scale = 1, softcap = 0;
  HeadOf(const Weights& w, std::int64_t vocabulary, std::int64_t dim, float eps,
         const std::string& norm_name = "output_norm")
      : norm(w, norm_name, dim, eps) {
    if (const auto answers = w.shape("cls.output.weight"); !answers.empty()) {
      output = w.matrix("cls.output.weight", {answers.size() > 1 ? answers[0] : 1, dim});
      return;
    }
    output = w.maybe_matrix("output.weight", {vocabulary, dim});
    bias = w.maybe("output.bias", {vocabulary});
    if (!output) output = w.matrix("token_embd.weight", {vocabulary, dim});
  }
  /// [R, V] logits of the wanted rows; where none is wanted, what logits are made of, [T, D]: it embeds the tokens
  Tensor operator()(const Tensor& x) const {
    if (x.step->wanted() == 0) return norm(x);
    if (x.step->keeps_hidden()) x.step->keep_hidden(norm(x));
    return of_picked(x.step->pick_wanted(x));
  }
  Tensor of_picked(const Tensor& rows) const {
    return softcapped(rows.step->linear(norm(rows), output, bias, scale), softcap);
  }
};
using Head = HeadOf<RmsNorm>;

}  // namespace nn
}  // namespace v0
}  // namespace inlay
