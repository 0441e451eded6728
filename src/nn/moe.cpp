// Reading a router's rules and the experts' weights.
#include "inlay/nn/moe.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr int most_experts = 4096;

std::uint32_t gating(const Metadata& m, std::uint32_t otherwise) {
  switch (m.integer("expert_gating_func", 0)) {
    case 0: return otherwise;
    case 1: return INLAY_ROUTE_SOFTMAX;
    case 2: return INLAY_ROUTE_SIGMOID;
    case 3: return INLAY_ROUTE_SOFTMAX_CHOSEN;
    default: m.refuse("expert_gating_func", "is not known");
  }
}

RouteSpec rules(const Weights& w, const Metadata& m, int count, const Moe::Defaults& defaults) {
  RouteSpec route;
  route.kind = gating(m, defaults.gating);
  route.used = m.integer("expert_used_count");
  if (route.used < 1 || route.used > count)
    throw Error(Errc::format,
                "expert_used_count is " + std::to_string(route.used) + " of " + std::to_string(count) + " experts",
                Fault::inconsistent, "expert_used_count");
  route.normalise = m.flag("expert_weights_norm", defaults.normalise);
  if (const float scale = m.real("expert_weights_scale", 0); scale != 0) route.scale = scale;
  route.groups = m.integer("expert_group_count", 0);
  route.groups_used = m.integer("expert_group_used_count", 0);
  if (route.groups > 1 && (count % route.groups || route.groups_used < 1 || route.groups_used > route.groups))
    m.refuse("expert_group_count", "does not fit the experts");
  route.group_top = route.kind == INLAY_ROUTE_SIGMOID ? 2 : 1;
  route.bias = w.maybe("exp_probs_b.bias", {count});
  if (!route.bias) route.bias = w.maybe("exp_probs_b", {count});
  route.factor = w.maybe("ffn_down_exps.scale", {count});
  return route;
}

}  // namespace

Moe::Moe(const Weights& w, const Metadata& m, const Shape& s, const Defaults& defaults) : act(defaults.act) {
  const int count = m.integer("expert_count");
  if (count < 1 || count > most_experts)
    m.refuse("expert_count", "is " + std::to_string(count) + ", not from 1 to 4096");
  const std::int64_t dim = s.dim, hidden = m.integer("expert_feed_forward_length", int(defaults.hidden));
  if (hidden < 1) m.refuse("expert_feed_forward_length", "must be at least 1");
  const auto latent = m.integer("moe_latent_size", 0);
  const std::int64_t in = latent > 0 ? latent : dim;
  if (latent > 0) latent_down = Linear(w, "ffn_latent_down", dim, in), latent_up = Linear(w, "ffn_latent_up", in, dim);
  router.weight = w.matrix(defaults.router + ".weight", {count, dim});
  router.bias = w.maybe(defaults.router + ".bias", {count});
  // Gemma 4 has a gain of the router's input under the name of a factor.
  if (w.shape(defaults.router + ".scale") != std::vector<std::int64_t>{dim}) router.scale = w.scale(defaults.router);
  route = rules(w, m, count, defaults);
  experts.gate_factor = w.maybe("ffn_gate_exps.scale", {count}),
  experts.up_factor = w.maybe("ffn_up_exps.scale", {count});
  experts.act = act, experts.alpha = defaults.alpha, experts.limit = defaults.limit,
  experts.weight_first = defaults.weight_first;
  if (w.has("ffn_gate_up_exps.weight")) {
    read_fused(w, count, hidden, in);
  } else if (defaults.gated) {
    experts.gate = w.matrix("ffn_gate_exps.weight", {count, hidden, in});
    experts.gate_bias = w.maybe("ffn_gate_exps.bias", {count, hidden});
    experts.up = w.matrix("ffn_up_exps.weight", {count, hidden, in});
    experts.up_bias = w.maybe("ffn_up_exps.bias", {count, hidden});
  } else {
    experts.gate = w.matrix("ffn_up_exps.weight", {count, hidden, in});
    experts.gate_bias = w.maybe("ffn_up_exps.bias", {count, hidden});
  }
  experts.down = w.matrix("ffn_down_exps.weight", {count, in, hidden});
  experts.down_bias = w.maybe("ffn_down_exps.bias", {count, in});
  read_shared(w, m, s, defaults, hidden);
}

// Gate and up in one tensor, the gate's rows first: two views. Packed rows lie in groups of 16, so the second half must
// begin with one.
void Moe::read_fused(const Weights& w, std::int64_t count, std::int64_t hidden, std::int64_t in) {
  if (hidden % 16) w.refuse("ffn_gate_up_exps.weight", "its halves are no multiples of 16 rows");
  const auto both = w.matrix("ffn_gate_up_exps.weight", {count, 2 * hidden, in});
  experts.gate = both.heads(0, hidden), experts.up = both.heads(hidden, hidden);
  if (const auto bias = w.maybe("ffn_gate_up_exps.bias", {count, 2 * hidden}))
    experts.gate_bias = bias.columns(0, hidden), experts.up_bias = bias.columns(hidden, hidden);
}

void Moe::read_shared(const Weights& w, const Metadata& m, const Shape& s, const Defaults& defaults,
                      std::int64_t expert_hidden) {
  if (!w.has("ffn_up_shexp.weight") && !w.has("ffn_down_shexp.weight")) return;
  const std::int64_t usual =
      defaults.shared_hidden > 0 ? defaults.shared_hidden : expert_hidden * m.integer("expert_shared_count", 1);
  const std::int64_t hidden = m.integer("expert_shared_feed_forward_length", int(usual));
  if (hidden < 1) m.refuse("expert_shared_feed_forward_length", "must be at least 1");
  if (defaults.gated) {
    shared = GatedMlp(w, s.dim, hidden, act, "_shexp");
  } else {
    shared_up = Linear(w, "ffn_up_shexp", s.dim, hidden);
    shared_down = Linear(w, "ffn_down_shexp", hidden, s.dim);
  }
  shared_gate = Linear::maybe(w, "ffn_gate_inp_shexp", s.dim, 1);
}

Tensor Moe::operator()(const Tensor& x, const Tensor& routed_by) const {
  auto& step = *x.step;
  auto y = step.experts(latent_down ? latent_down(x) : x, step.route(router(routed_by), route), experts);
  if (latent_up) y = latent_up(y);
  if (!shared.up && !shared_up) return y;
  auto common = shared.up ? shared(x) : shared_down(step.glu(act, shared_up(x), {}));
  if (shared_gate) common = common * step.glu(Act::sigmoid, shared_gate(x), {});
  return y += common;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
