// Mixture of experts: a router that chooses for each token, the chosen experts' sum, and an expert shared by all.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// y = sum of weight_e * expert_e(x) over the chosen experts + shared(x). Shazeer et al. 2017; DeepSeek-AI 2024.
struct INLAY_API Moe {
  /// What an architecture defines where the file's keys are silent.
  struct Defaults {
    std::int64_t hidden = 0;  ///< width of an expert where "expert_feed_forward_length" is absent
    std::uint32_t gating = INLAY_ROUTE_SOFTMAX;
    bool normalise = false;
    Act act = Act::silu;
    bool gated = true;  ///< false: down(act(up(x)))
    /// Width of the shared expert where "expert_shared_feed_forward_length" is absent; 0: that of "expert_shared_count"
    /// experts, 1 where that is absent.
    std::int64_t shared_hidden = 0;
    float alpha = 0, limit = 0;  ///< of the activation
    bool weight_first = false;   ///< the weight scales the expert's input
    std::string router = "ffn_gate_inp";
  };
  Linear router;
  RouteSpec route;
  Step::Experts experts;
  GatedMlp shared;
  Linear shared_up, shared_down, shared_gate;
  Linear latent_down, latent_up;  ///< where experts work on a latent, "moe_latent_size": into it, and out again
  Act act = Act::silu;

  Moe() = default;
  Moe(const Weights& w, const Metadata& m, const Shape& s, const Defaults& defaults);
  explicit operator bool() const noexcept { return bool(router); }
  Tensor operator()(const Tensor& x) const { return (*this)(x, x); }
  Tensor operator()(const Tensor& x, const Tensor& routed_by) const;

 private:
  void read_fused(const Weights& w, std::int64_t count, std::int64_t hidden, std::int64_t in);
  void read_shared(const Weights& w, const Metadata& m, const Shape& s, const Defaults& defaults,
                   std::int64_t expert_hidden);
};

/// Experts where the layer has some, else a gated MLP.
struct FeedForward {
  Moe moe;
  GatedMlp mlp;
  FeedForward(const Weights& w, const Metadata& m, const Shape& s, const Moe::Defaults& defaults)
      : FeedForward(w, m, s, defaults, w.has(defaults.router + ".weight") || w.has("ffn_down_exps.weight")) {}
  FeedForward(const Weights& w, const Metadata& m, const Shape& s, const Moe::Defaults& defaults, bool experts) {
    if (experts)
      moe = Moe(w, m, s, defaults);
    else
      mlp = GatedMlp(w, s.dim, s.hidden, defaults.act);
  }
  Tensor operator()(const Tensor& x) const { return moe ? moe(x) : mlp(x); }
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
