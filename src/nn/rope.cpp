// The frequencies of a rotation, with the scalings that stretch a model's context.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

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

Yarn yarn(const Metadata& m, int dims, double base, double factor, YarnBounds bounds) {
  const double context = m.integer("rope.scaling.original_context_length", m.trained);
  if (context < 1) m.refuse("rope.scaling.original_context_length", "must be at least 1");
  const double fast = m.real("rope.scaling.yarn_beta_fast", 32), slow = m.real("rope.scaling.yarn_beta_slow", 1);
  double low = correction(dims, base, context, fast), high = correction(dims, base, context, slow);
  if (bounds == YarnBounds::rounded) low = std::floor(low), high = std::ceil(high);
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
  constexpr const char *longer = "rope_factors_long.weight", *shorter = "rope_factors_short.weight";
  if (!all.has(longer) && !all.has(shorter)) return {};
  const auto of_long = all(longer, {dims / 2}), of_short = all(shorter, {dims / 2});
  return m.context > m.integer("rope.scaling.original_context_length", m.trained) ? of_long : of_short;
}

}  // namespace

Rope Shape::rope(const Weights& w, const Metadata& m, Pairing pairing, float base, bool scaled,
                 YarnBounds bounds) const {
  const auto type = m.text("rope.scaling.type", "none");
  const float factor = m.real("rope.scaling.factor", m.real("rope.scale_linear", 1));
  if (type != "none" && type != "linear" && type != "yarn" && type != "longrope" && type != "llama3")
    throw Error(Errc::unsupported, "the rope scaling type \"" + std::string(type) + "\" is not known",
                Fault::unsupported, "rope.scaling.type");
  if (!(factor > 0)) m.refuse("rope.scaling.factor", "must be above 0");
  if (rope_dims < 0 || rope_dims % 2 || rope_dims > head_dim)
    m.refuse("rope.dimension_count",
             "is " + std::to_string(rope_dims) + ", but must be even and at most " + std::to_string(head_dim));
  Rope rope{.dims = rope_dims, .pairing = pairing};
  if (rope_dims == 0) return rope;
  std::vector<float> frequencies;
  const bool ramped = type == "yarn" && scaled;
  const Yarn ramp = ramped ? yarn(m, rope_dims, base, factor, bounds) : Yarn{};
  for (int pair = 0; pair < rope_dims / 2; ++pair) {
    double theta = std::pow(double(base), -2.0 * pair / rope_dims);
    if (ramped)
      theta = ramp(theta, pair);
    else if (scaled && type == "linear")
      theta /= factor;
    frequencies.push_back(float(theta));
  }
  if (scaled) {
    if (const auto divisors = factors(w, m, rope_dims)) {
      const auto* by = static_cast<const float*>(divisors.view.data);
      for (std::size_t i = 0; i < frequencies.size(); ++i) frequencies[i] /= by[i];
    }
    if (ramped)
      rope.magnitude = yarn_magnitude(m, factor);
    else if (m.has("rope.scaling.attn_factor"))
      rope.magnitude = m.real("rope.scaling.attn_factor");
  }
  rope.frequencies = w.constant(frequencies);
  return rope;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
