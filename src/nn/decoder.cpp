// The numbers of a decoder, checked against each other, and the frequencies of its rotations.
#include "inlay/nn/decoder.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr int most_layers = 1024, widest = 1 << 24;

int positive(const Metadata& m, std::string_view key, int value, int most) {
  if (value < 1) m.refuse(key, "is " + std::to_string(value) + ", but must be at least 1");
  if (value > most) m.refuse(key, "is " + std::to_string(value) + ", above the limit of " + std::to_string(most));
  return value;
}

float epsilon(const Metadata& m) {
  const char* rms = "attention.layer_norm_rms_epsilon";
  const char* key = m.has("attention.layer_norm_epsilon") && !m.has(rms) ? "attention.layer_norm_epsilon" : rms;
  const float eps = m.real(key);
  if (!(eps >= 0 && eps < 1)) m.refuse(key, "must be in [0, 1)");
  return eps;
}

void check_heads(const Metadata& m, const Shape& s) {
  if (s.heads % s.kv_heads)
    throw Error(Errc::format, std::to_string(s.heads) + " query heads do not divide by " + std::to_string(s.kv_heads) +
                                  " key/value heads (attention.head_count_kv)",
                Fault::inconsistent, "attention.head_count_kv");
  if (!m.has("attention.key_length") && s.dim % s.heads)
    throw Error(Errc::format, "the width " + std::to_string(s.dim) + " does not divide by " + std::to_string(s.heads) +
                                  " heads (attention.head_count)",
                Fault::inconsistent, "attention.head_count");
}

// An array of one entry a layer, where there is an array at all.
void check_arrays(const Metadata& m, int layers) {
  for (const char* key : {"attention.head_count", "attention.head_count_kv", "feed_forward_length"})
    if (const auto size = m.size(key); size > 1 && size != std::size_t(layers))
      throw Error(Errc::format, "the array " + std::string(key) + " has " + std::to_string(size) + " entries for " +
                                    std::to_string(layers) + " layers",
                  Fault::inconsistent, key);
}

// YaRN (Peng et al. 2023): the pair at which `turns` rotations fit into the original context.
double correction(double dims, double base, double context, double turns) {
  return dims * std::log(context / (2 * std::numbers::pi * turns)) / (2 * std::log(base));
}

struct Yarn {
  double factor, low, high;
  double operator()(double theta, int pair) const {
    const double ramp = 1 - std::clamp((pair - low) / std::max(0.001, high - low), 0.0, 1.0);
    return theta / factor * (1 - ramp) + theta * ramp;
  }
};

Yarn yarn(const Metadata& m, int dims, double base, double factor) {
  const double context = positive(m, "rope.scaling.original_context_length",
                                  m.integer("rope.scaling.original_context_length", m.trained), 1 << 30);
  const double fast = m.real("rope.scaling.yarn_beta_fast", 32), slow = m.real("rope.scaling.yarn_beta_slow", 1);
  const bool whole = m.flag("rope.scaling.yarn_truncate", true);
  double low = correction(dims, base, context, fast), high = correction(dims, base, context, slow);
  if (whole) low = std::floor(low), high = std::ceil(high);
  return {factor, std::max(0.0, low), std::min(dims - 1.0, high)};
}

// How much YaRN scales cos and sin.
float yarn_magnitude(const Metadata& m, float factor) {
  if (m.has("rope.scaling.yarn_attn_factor")) return m.real("rope.scaling.yarn_attn_factor");
  const auto growth = [&](float by) { return factor > 1 ? 0.1f * by * std::log(factor) + 1 : 1.f; };
  const float by = m.real("rope.scaling.yarn_log_multiplier", 0);
  return (by == 0 ? growth(1) : growth(1) / growth(by)) * m.real("rope.scaling.attn_factor", 1);
}

// One divisor for each pair: from the file's tensors (llama3, LongRoPE), else empty.
Tensor factors(const Weights& w, const Metadata& m, int dims) {
  const Weights all = w.whole();
  if (auto found = all.maybe("rope_freqs.weight", {dims / 2})) return found;
  const bool is_long = m.context > m.integer("rope.scaling.original_context_length", m.trained);
  return all.maybe(is_long ? "rope_factors_long.weight" : "rope_factors_short.weight", {dims / 2});
}

}  // namespace

Shape::Shape(const Metadata& m)
    : layers(positive(m, "block_count", m.integer("block_count"), most_layers)),
      dim(positive(m, "embedding_length", m.integer("embedding_length"), widest)),
      heads(positive(m, "attention.head_count", (m.integer("attention.head_count")), 1 << 16)),
      kv_heads(positive(m, "attention.head_count_kv", m.integer("attention.head_count_kv", 0, heads), 1 << 16)),
      head_dim(positive(m, "attention.key_length", m.integer("attention.key_length", std::max(1, dim / heads)), 1 << 14)),
      value_dim(positive(m, "attention.value_length", m.integer("attention.value_length", head_dim), 1 << 14)),
      hidden(m.has("feed_forward_length") ? positive(m, "feed_forward_length", m.integer("feed_forward_length"), widest) : 0),
      vocabulary(m.vocabulary),
      rope_dims(m.integer("rope.dimension_count", head_dim)),
      eps(epsilon(m)),
      rope_base(m.real("rope.freq_base", 10000.f)) {
  check_arrays(m, layers);
  check_heads(m, *this);
  if (!(rope_base > 0)) m.refuse("rope.freq_base", "must be above 0");
  if (rope_dims < 0 || rope_dims % 2 || rope_dims > head_dim)
    m.refuse("rope.dimension_count", "is " + std::to_string(rope_dims) + ", but must be even and at most " + std::to_string(head_dim));
}

bool windowed(const Metadata& m, int layer, int period, bool dense_first) {
  if (const auto size = m.size("attention.sliding_window_pattern"); size > 1)
    return m.flag("attention.sliding_window_pattern", layer, false);
  period = m.integer("attention.sliding_window_pattern", period);
  if (period < 1) m.refuse("attention.sliding_window_pattern", "must be at least 1");
  return dense_first ? layer % period != 0 : layer % period < period - 1;
}

std::vector<float> alibi_slopes(int heads, float most) {
  int whole = 1;
  while (whole * 2 <= heads) whole *= 2;
  std::vector<float> slopes;
  for (int h = 0; h < heads; ++h)
    slopes.push_back(float(h < whole ? std::pow(2.0, -double(most) * (h + 1) / whole)
                                     : std::pow(2.0, -double(most) / 2 * (2 * (h - whole) + 1) / whole)));
  return slopes;
}

Shape Shape::at(const Metadata& m, int layer) const {
  Shape s = *this;
  s.heads = positive(m, "attention.head_count", m.integer("attention.head_count", layer, heads), 1 << 16);
  s.kv_heads = positive(m, "attention.head_count_kv", m.integer("attention.head_count_kv", layer, s.heads), 1 << 16);
  if (hidden) s.hidden = positive(m, "feed_forward_length", m.integer("feed_forward_length", layer, hidden), widest);
  check_heads(m, s);
  return s;
}

Rope Shape::rope(const Weights& w, const Metadata& m, Pairing pairing, float base, bool scaled) const {
  const auto type = m.text("rope.scaling.type", "none");
  const float factor = m.real("rope.scaling.factor", m.real("rope.scale_linear", 1));
  if (type != "none" && type != "linear" && type != "yarn" && type != "longrope" && type != "llama3")
    throw Error(Errc::unsupported, "the rope scaling type \"" + std::string(type) + "\" is not known", Fault::unsupported,
                "rope.scaling.type");
  if (!(factor > 0)) m.refuse("rope.scaling.factor", "must be above 0");
  Rope rope{.dims = rope_dims, .pairing = pairing};
  if (rope_dims == 0) return rope;
  std::vector<float> frequencies;
  const auto ramp = type == "yarn" && scaled ? std::optional(yarn(m, rope_dims, base, factor)) : std::nullopt;
  for (int pair = 0; pair < rope_dims / 2; ++pair) {
    double theta = std::pow(double(base), -2.0 * pair / rope_dims);
    if (ramp) theta = (*ramp)(theta, pair);
    else if (scaled && type == "linear") theta /= factor;
    frequencies.push_back(float(theta));
  }
  if (scaled) {
    if (const auto divisors = factors(w, m, rope_dims)) {
      const auto* by = static_cast<const float*>(divisors.view.data);
      for (std::size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= by[i];
    }
    if (ramp) rope.magnitude = yarn_magnitude(m, factor);
    else if (m.has("rope.scaling.attn_factor")) rope.magnitude = m.real("rope.scaling.attn_factor");
  }
  rope.frequencies = w.constant(frequencies);
  return rope;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
