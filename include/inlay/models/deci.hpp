// DeciLM and Llama Nemotron: Llama whose layers differ, and may lack attention, have one matrix instead, or no MLP.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x)), or linear(norm(x)), or nothing;  x += mlp(norm(x)), or nothing
struct DeciLayer {
  nn::RmsNorm attn_norm, mlp_norm;
  std::optional<nn::Attention> attention;
  nn::Linear linear;
  nn::GatedMlp mlp;

  DeciLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int) {
    if (s.heads > 0) attn_norm = nn::RmsNorm(w, "attn_norm", s.dim, s.eps);
    if (s.kv_heads > 0)
      attention.emplace(w, s.attention(w, m));
    else if (s.heads > 0)
      linear = nn::Linear(w, "attn_output", s.dim, s.dim);
    if (s.hidden == 0) return;
    mlp_norm = nn::RmsNorm(w, "ffn_norm", s.dim, s.eps);
    mlp = nn::GatedMlp(w, s.dim, s.hidden);
  }

  void operator()(nn::Tensor& x, int i) const {
    if (attention)
      x += (*attention)(attn_norm(x), i);
    else if (linear)
      x += linear(attn_norm(x));
    if (mlp_norm) x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention ? attention->cache() : nn::Cache{}; }
};

struct Deci : nn::Decoder<DeciLayer> {
  static constexpr std::string_view name = "deci";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
