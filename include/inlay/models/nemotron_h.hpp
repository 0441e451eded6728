// Nemotron H: each layer is Mamba 2, attention without rotation, or an MLP of squared ReLU, experts in the MoE.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += mixer(norm(x))
struct NemotronHLayer {
  nn::RmsNorm norm;
  std::optional<nn::Attention> attention;
  std::optional<nn::Mamba2> mamba;
  std::optional<nn::Mlp> mlp;
  nn::Moe moe;

  NemotronHLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : norm(w, "attn_norm", s.dim, s.eps) {
    if (w.has("ffn_gate_inp.weight"))
      moe =
          nn::Moe(w, m, s, {.hidden = s.hidden, .gating = INLAY_ROUTE_SIGMOID, .act = nn::Act::relu2, .gated = false});
    else if (s.hidden > 0)
      mlp.emplace(w, s.dim, s.hidden, nn::Act::relu2);
    else if (s.kv_heads == 0)
      mamba.emplace(w, m, s.dim, s.eps);
    else
      attention.emplace(w, spec(m, s));
  }

  void operator()(nn::Tensor& x, int i) const {
    const auto h = norm(x);
    if (moe)
      x += moe(h);
    else if (mlp)
      x += (*mlp)(h);
    else
      x += attention ? (*attention)(h, i) : (*mamba)(h, i);
  }

  nn::Cache cache() const { return attention ? attention->cache() : mamba ? mamba->cache() : nn::Cache{}; }

  static nn::Attention::Spec spec(const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention_unrotated();
    spec.attend.scale = m.real("attention.scale", 0);
    return spec;
  }
};

struct NemotronH : nn::Decoder<NemotronHLayer> {
  static constexpr std::string_view name = "nemotron_h";
  static constexpr std::string_view also[] = {"nemotron_h_moe"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
