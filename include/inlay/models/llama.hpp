// Llama 2 and 3, Mistral, Mixtral, and every model that only changes their numbers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct LlamaLayer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::FeedForward mlp;  // experts in Mixtral

  LlamaLayer(const nn::Weights& w, const nn::Metadata& m, int i) : LlamaLayer(w, m, nn::Shape(m).at(m, i)) {}
  LlamaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, s.attention(w, m)),
        mlp(w, m, s, {.hidden = s.hidden, .normalise = true}, m.integer("expert_count", 0) > 0) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct Llama : nn::Decoder<LlamaLayer> {
  static constexpr std::string_view name = "llama";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
