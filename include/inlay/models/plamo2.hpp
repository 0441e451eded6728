// PLaMo 2 and 3: norms around every block; in the second, Mamba with heads on every other layer.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// Mamba whose steps, rates and skips belong to heads; B, C and the steps are normed.
struct Plamo2Mamba {
  nn::SsmShape s;
  std::int64_t heads, size, rank;
  nn::Linear in, parts, step_size, out;
  nn::Tensor conv, a, d;
  nn::RmsNorm step_norm, b_norm, c_norm;

  Plamo2Mamba(const nn::Weights& w, const nn::Metadata& m, std::int64_t dim, float eps)
      : s(m),
        heads(s.rank),
        size(s.inner / heads),
        rank(std::max<std::int64_t>(64, dim / 16)),
        in(w, "ssm_in", dim, 2 * s.inner),
        parts(w, "ssm_x", s.inner, rank + 2 * s.state),
        step_size(w, "ssm_dt", rank, heads),
        out(w, "ssm_out", s.inner, dim),
        conv(w("ssm_conv1d.weight", {s.inner, s.taps})),
        a(w("ssm_a", {heads}).view_as({heads, 1}, {1, 1})),
        d(w("ssm_d", {heads})),
        step_norm(w, "ssm_dt_norm", rank, eps),
        b_norm(w, "ssm_b_norm", s.state, eps),
        c_norm(w, "ssm_c_norm", s.state, eps) {
    if (s.inner % heads) m.refuse("ssm.time_step_rank", "does not divide ssm.inner_size");
  }

  nn::Tensor operator()(const nn::Tensor& x, int layer) const {
    auto& step = *x.step;
    const auto rows = x.rows();
    const auto both = in(x).split(heads), z = both.columns(0, size);  // beside one another in each head
    const auto own = step.scratch({rows, heads, size});
    step.copy(both.columns(size, size), own);
    const auto u = step.scan(INLAY_SCAN_CONV, layer, own.join(), {conv}, {rows, s.inner}, 1, 1, nn::Act::silu);
    const auto all = parts(u);
    const auto b = b_norm(all.columns(0, s.state)), c = c_norm(all.columns(s.state, s.state)),
               steps = step_size(step_norm(all.columns(2 * s.state, rank)));
    const auto y = step.scan(INLAY_SCAN_SELECTIVE, layer, u, {steps, a, b, c, d}, {rows, s.inner}, int(heads), 1,
                             nn::Act::none, 0, s.conv_bytes(s.inner));
    return out(step.glu(nn::Act::silu, z, y.split(heads)).join());
  }

  nn::Cache cache() const { return {.state_bytes = s.conv_bytes(s.inner) + s.inner * s.state * 4}; }
};

/// x += norm(mixer(norm(x)));  x += norm(mlp(norm(x)))
struct Plamo2Layer : nn::SandwichLayer<nn::GatedMlp, nn::AttentionOr<nn::Attention, Plamo2Mamba>> {
  Plamo2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : SandwichLayer(w, s, mixer(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::AttentionOr<nn::Attention, Plamo2Mamba> mixer(const nn::Weights& w, const nn::Metadata& m,
                                                           const nn::Shape& s) {
    if (s.kv_heads == 0) return Plamo2Mamba(w, m, s.dim, s.eps);
    return nn::Attention(w, s.attention(w, m, nn::Pairing::halves));
  }
};

struct Plamo2 : nn::Decoder<Plamo2Layer> {
  static constexpr std::string_view name = "plamo2";
  using Decoder::Decoder;
};

struct Plamo3Layer : nn::SandwichLayer<nn::GatedMlp> {
  Plamo3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : SandwichLayer(w, s, nn::Attention(w, spec(w, m, s, i)), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = m.integer("attention.sliding_window", 0) > 0 && nn::windowed(m, i, 8);
    return local ? s.attention_windowed(w, m, nn::Pairing::halves, s.rope_base, false)
                 : s.attention(w, m, nn::Pairing::halves);
  }
};

struct Plamo3 : nn::Decoder<Plamo3Layer> {
  static constexpr std::string_view name = "plamo3";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
