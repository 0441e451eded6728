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

  LlamaLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, i)),
        mlp(w, m, s, {.hidden = s.hidden, .normalise = true}, m.integer("expert_count", 0) > 0) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  // Mistral's window, on every layer or on those that the file lists.
  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = s.attention(w, m);
    if (!m.has("attention.sliding_window_pattern") || nn::windowed(m, i, 1))
      spec.attend.window = m.integer("attention.sliding_window", 0);
    return spec;
  }
};

struct Llama : nn::Decoder<LlamaLayer> {
  static constexpr std::string_view name = "llama";
  static constexpr std::string_view also[] = {"mistral", "xverse"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
