// Command with experts: Cohere 2 whose parallel block holds experts, averaged with one shared by all.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// Of layers in some files, of root mean squares in those that state their epsilon.
struct Cohere2MoeNorm : nn::LayerNorm {
  inlay_norm_kind kind = INLAY_NORM_LAYER;
  using LayerNorm::LayerNorm;
  void read(const nn::Metadata& m) {
    if (m.has("attention.layer_norm_rms_epsilon")) kind = INLAY_NORM_RMS;
  }
  nn::Tensor operator()(const nn::Tensor& x) const { return x.step->norm(kind, x, gain, bias, eps); }
};

/// h = norm(x);  x += attention(h) + experts(h), or + mlp(h) on the first layers
struct Cohere2MoeLayer : nn::ParallelLayer<Cohere2MoeNorm, nn::FeedForward> {
  Cohere2MoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : ParallelLayer(w, s, spec(w, m, s, i),
                      nn::FeedForward(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SIGMOID}, !leads(m, i))) {
    norm.read(m);
  }

  void operator()(nn::Tensor& x, int i) const {
    const auto h = norm(x);
    auto f = feed(h);
    if (feed.moe.shared.up) f *= 0.5f;
    x += attention(h, i) + f;
  }

  static bool leads(const nn::Metadata& m, int i) { return i < m.integer("leading_dense_block_count", 0); }
  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    const bool local = nn::windowed(m, i, 4, true);
    auto spec = local || leads(m, i) ? s.attention(w, m) : s.attention_unrotated();
    if (local) spec.attend.window = m.integer("attention.sliding_window");
    return spec;
  }
};

struct Cohere2Moe : nn::Decoder<Cohere2MoeLayer, Cohere2MoeNorm> {
  static constexpr std::string_view name = "cohere2moe";
  static constexpr std::string_view also[] = {"cohere2_moe"};
  Cohere2Moe(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    head.scale = m.real("logit_scale"), head.norm.read(m);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
