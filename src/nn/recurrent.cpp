// The recurrent mixers: projections around a convolution and a scan over states.
#include "inlay/nn/recurrent.hpp"

#include <cmath>
#include <vector>

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

std::int64_t size(const Metadata& m, std::string_view key, int value) {
  if (value < 1 || value > (1 << 24)) m.refuse(key, "is " + std::to_string(value) + ", out of range");
  return value;
}

std::int64_t size(const Metadata& m, std::string_view key) { return size(m, key, m.integer(key)); }

void check_divides(const Metadata& m, std::string_view key, std::int64_t whole, std::int64_t parts) {
  if (whole % parts) m.refuse(key, "does not divide " + std::to_string(whole));
}

// Some files have this norm, in all of their layers.
RmsNorm norm_of(const Weights& w, const std::string& name, std::int64_t dim) {
  RmsNorm norm;
  norm.gain = w.maybe(name + ".weight", {dim});
  return norm;
}

}  // namespace

SsmShape::SsmShape(const Metadata& m)
    : taps(size(m, "ssm.conv_kernel")),
      inner(size(m, "ssm.inner_size")),
      state(size(m, "ssm.state_size")),
      rank(size(m, "ssm.time_step_rank")),
      groups(m.integer("ssm.group_count", 0) == 0 ? 1 : size(m, "ssm.group_count")) {
  if (taps > 64) m.refuse("ssm.conv_kernel", "is above 64");
}

Mamba::Mamba(const Weights& w, const Metadata& m, std::int64_t dim, float eps)
    : s(m),
      in(w, "ssm_in", dim, 2 * s.inner),
      parts(w, "ssm_x", s.inner, s.rank + 2 * s.state),
      step_size(w, "ssm_dt", s.rank, s.inner),
      out(w, "ssm_out", s.inner, dim),
      conv(w("ssm_conv1d.weight", {s.inner, s.taps})),
      conv_bias(w.maybe("ssm_conv1d.bias", {s.inner})),
      a(w("ssm_a", {s.inner, s.state})),
      d(w("ssm_d", {s.inner})),
      step_norm(norm_of(w, "ssm_dt_norm", s.rank)),
      b_norm(norm_of(w, "ssm_b_norm", s.state)),
      c_norm(norm_of(w, "ssm_c_norm", s.state)),
      normed(step_norm || m.flag("ssm.dt_b_c_rms", false)) {
  constexpr float plain_eps = 1e-6f;  // of norms without gains, whatever the file's other norms have
  step_norm.eps = b_norm.eps = c_norm.eps = step_norm ? eps : plain_eps;
}

Tensor Mamba::operator()(const Tensor& x, int layer) const {
  auto& step = *x.step;
  const auto both = in(x), z = both.columns(s.inner, s.inner);
  const auto u = step.scan(INLAY_SCAN_CONV, layer, both.columns(0, s.inner), {conv, conv_bias}, {x.rows(), s.inner}, 1,
                           1, Act::silu);
  const auto all = parts(u);
  auto delta = all.columns(0, s.rank), b = all.columns(s.rank, s.state), c = all.columns(s.rank + s.state, s.state);
  if (normed) delta = step_norm(delta), b = b_norm(b), c = c_norm(c);
  const auto y = step.scan(INLAY_SCAN_SELECTIVE, layer, u, {step_size(delta), a, b, c, d}, {x.rows(), s.inner},
                           int(s.inner), 1, Act::none, 0, s.conv_bytes(s.inner));
  return out(step.glu(Act::silu, z, y));
}

Mamba2::Mamba2(const Weights& w, const Metadata& m, std::int64_t dim, float epsilon)
    : s(m),
      heads(s.rank),
      channels(s.inner + 2 * s.groups * s.state),
      in(w, "ssm_in", dim, s.inner + channels + heads),
      out(w, "ssm_out", s.inner, dim),
      conv(w("ssm_conv1d.weight", {channels, s.taps})),
      conv_bias(w.maybe("ssm_conv1d.bias", {channels})),
      a(w("ssm_a", {heads, 1})),
      d(w("ssm_d", {heads})),
      step_bias(w("ssm_dt.bias", {heads})),
      gain(w.maybe("ssm_norm.weight", {s.groups, s.inner / s.groups})),
      eps(epsilon) {
  check_divides(m, "ssm.time_step_rank", s.inner, heads);
  check_divides(m, "ssm.group_count", heads, s.groups);
}

Tensor Mamba2::operator()(const Tensor& x, int layer) const {
  auto& step = *x.step;
  const auto all = in(x), z = all.columns(0, s.inner), delta = all.columns(s.inner + channels, heads);
  const auto u = step.scan(INLAY_SCAN_CONV, layer, all.columns(s.inner, channels), {conv, conv_bias},
                           {x.rows(), channels}, 1, 1, Act::silu);
  const auto shared = s.groups * s.state;
  const auto b = u.columns(s.inner, shared), c = u.columns(s.inner + shared, shared);
  auto y = step.scan(INLAY_SCAN_SELECTIVE, layer, u.columns(0, s.inner), {delta, a, b, c, d, step_bias},
                     {x.rows(), s.inner}, int(heads), int(s.groups), Act::none, 0, s.conv_bytes(channels));
  y = step.glu(Act::silu, z, y);
  if (gain) y = step.norm(INLAY_NORM_RMS, y.split(s.groups), gain, {}, eps).join();
  return out(y);
}

ShortConvolution::ShortConvolution(const Weights& w, const Metadata& m, std::int64_t width)
    : dim(width),
      taps(size(m, "shortconv.l_cache")),
      in(w, "shortconv.in_proj", dim, 3 * dim),
      out(w, "shortconv.out_proj", dim, dim),
      conv(w("shortconv.conv.weight", {dim, taps})) {}

Tensor ShortConvolution::operator()(const Tensor& x, int layer) const {
  const auto all = in(x), b = all.columns(0, dim), c = all.columns(dim, dim), u = all.columns(2 * dim, dim);
  return out(c * x.step->scan(INLAY_SCAN_CONV, layer, b * u, {conv}, {x.rows(), dim}));
}

GatedDelta::GatedDelta(const Weights& w, const Metadata& m, std::int64_t dim, float eps, Sharing share)
    : s(m),
      sharing(share),
      key_heads(s.groups),
      value_heads(s.rank),
      key_dim(s.state),
      value_dim(s.inner / value_heads),
      channels(2 * key_heads * key_dim + s.inner),
      qkv(w, "attn_qkv", dim, channels),
      z(w, "attn_gate", dim, s.inner),
      beta_alpha(Linear::maybe(w, "ssm_ba", dim, 2 * value_heads)),
      out(w, "ssm_out", s.inner, dim),
      conv(w("ssm_conv1d.weight", {channels, s.taps})),
      a(w("ssm_a", {value_heads})),
      step_bias(w("ssm_dt.bias", {value_heads})),
      norm(w, "ssm_norm", value_dim, eps) {
  check_divides(m, "ssm.time_step_rank", s.inner, value_heads);
  check_divides(m, "ssm.group_count", value_heads, key_heads);
  if (!beta_alpha) beta = Linear(w, "ssm_beta", dim, value_heads), alpha = Linear(w, "ssm_alpha", dim, value_heads);
}

Tensor GatedDelta::shared(const Tensor& keys) const {
  const auto times = value_heads / key_heads, row = channels;
  return sharing == Sharing::neighbours ? keys.view_as({keys.rows(), key_heads, times, key_dim}, {row, key_dim, 0, 1})
                                        : keys.view_as({keys.rows(), times, key_heads, key_dim}, {row, 0, key_dim, 1});
}

Tensor GatedDelta::operator()(const Tensor& x, int layer) const {
  auto& step = *x.step;
  const auto rows = x.rows(), keys = key_heads * key_dim, times = value_heads / key_heads;
  const auto mixed = step.scan(INLAY_SCAN_CONV, layer, qkv(x), {conv}, {rows, channels}, 1, 1, Act::silu);
  const auto q = shared(mixed.columns(0, keys)), k = shared(mixed.columns(keys, keys));
  const auto v = mixed.columns(2 * keys, s.inner).split(value_heads);
  Tensor b, g;
  if (beta_alpha) {  // for each key head: its value heads' betas, then their alphas
    const auto both = beta_alpha(x);
    b = both.view_as({rows, key_heads, times, 1}, {2 * value_heads, 2 * times, 1, 1});
    g = both.columns(times, value_heads).view_as({rows, key_heads, times, 1}, {2 * value_heads, 2 * times, 1, 1});
  } else {
    b = beta(x).split(value_heads), g = alpha(x).split(value_heads);
  }
  constexpr float key_eps = 1e-6f;
  const auto y = step.scan(INLAY_SCAN_GATED_DELTA, layer, v, {q, k, g, b, a, step_bias}, {rows, value_heads, value_dim},
                           int(value_heads), 1, Act::none, key_eps, s.conv_bytes(channels));
  return out(step.glu(Act::silu, z(x).split(value_heads), norm(y)).join());
}

std::int64_t wkv_head(const Metadata& m, const Shape& s) {
  const auto head = size(m, "wkv.head_size");
  check_divides(m, "wkv.head_size", s.dim, head);
  return head;
}

LowRank::LowRank(const Weights& w, const std::string& name, std::int64_t dim) {
  const auto shape = w.shape(name + "1.weight");
  const std::int64_t rank = shape.size() == 2 ? shape[0] : 1;
  first = Linear(w, name + "1", dim, rank), second = Linear(w, name + "2", rank, dim);
  base = w.maybe(name + "0.weight", {1, dim});
}

Tensor LowRank::operator()(const Tensor& x, Act act) const {
  auto low = first(x);
  if (act != Act::none) low = x.step->glu(act, low, {});
  return base ? second(low) + base : second(low);
}

// The scan divides by sqrt(head), and keeps exp(-exp(6)) = 0 of its state.
HeadSums::HeadSums(const Weights& w, std::int64_t count, std::int64_t size)
    : heads(count),
      head(size),
      one(w.constant(std::vector<float>{std::sqrt(float(size))})),
      rate(w.constant(std::vector<float>(std::size_t(count), 6.f)).view_as({count, 1}, {1, 1})) {}

Tensor HeadSums::times(const Tensor& v, const Tensor& a, const Tensor& b, int layer, std::int64_t state_offset) const {
  const auto rows = v.rows();
  const auto sums =
      v.step->scan(INLAY_SCAN_RETENTION, layer, one.view_as({rows, heads, 1}, {0, 0, 1}),
                   {a.split(heads), b.split(heads), rate}, {rows, heads, 1}, int(heads), 1, Act::none, 0, state_offset);
  const auto scaled = v.view_as({rows * heads, head}, {head, 1}) * sums.view_as({rows * heads, 1}, {1, 1});
  return scaled.view_as({rows, heads * head}, {heads * head, 1});
}

Tensor token_shift(const Tensor& x, int layer, std::int64_t state_offset) {
  return x.step->scan(INLAY_SCAN_SHIFT, layer, x, {}, {x.rows(), x.cols()}, 1, 1, Act::none, 0, state_offset) - x;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
