// GroveMoE: Qwen 3 with experts in groups, each of which shares a small expert. Wu et al. 2025.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// y = sum of weight_e * (expert_e(x) + scale * small_g(x)) over the chosen experts e, each with its group's g
struct GroveExperts {
  nn::Moe moe;
  nn::Step::Experts small;
  float scale;

  GroveExperts(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : moe(w, m, s, {.hidden = s.hidden, .normalise = true}), scale(m.real("expert_group_scale")) {
    const std::int64_t experts = m.integer("expert_count"), hidden = m.integer("expert_chunk_feed_forward_length");
    small.run = m.integer("experts_per_group");
    if (small.run < 1 || experts % small.run) m.refuse("experts_per_group", "does not fit the experts");
    const std::int64_t groups = experts / small.run;
    small.gate = w.matrix("ffn_gate_chexps.weight", {groups, hidden, s.dim});
    small.up = w.matrix("ffn_up_chexps.weight", {groups, hidden, s.dim});
    small.down = w.matrix("ffn_down_chexps.weight", {groups, s.dim, hidden});
  }

  nn::Tensor operator()(const nn::Tensor& x) const {
    auto& step = *x.step;
    const auto routed = step.route(moe.router(x), moe.route);
    auto y = step.experts(x, routed, moe.experts), shared = step.experts(x, routed, small);
    return y += shared *= scale;
  }
};

/// x += attention(norm(x));  x += experts(norm(x))
struct GroveMoeLayer : nn::PreNormLayer<nn::RmsNorm, GroveExperts> {
  GroveMoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), GroveExperts(w, m, s)) {}
};

struct GroveMoe : nn::Decoder<GroveMoeLayer> {
  static constexpr std::string_view name = "grovemoe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
