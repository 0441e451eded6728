// EXAONE 4: norms behind the blocks; with windows, only the windowed layers are rotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += norm(attention(x));  x += norm(mlp(x))
struct Exaone4Layer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  Exaone4Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Exaone4Layer(w, m, nn::Shape(m), i) {}
  Exaone4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(w, "post_attention_norm", s.dim, s.eps),
        mlp_norm(w, "post_ffw_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, i)),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attn_norm(attention(x, i));
    x += mlp_norm(mlp(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    const int window = m.integer("attention.sliding_window", 0);
    if (window > 0 && nn::windowed(m, i, 4))
      spec.attend.window = window;
    else if (window > 0)
      spec.rope = {};
    return spec;
  }
};

struct Exaone4 : nn::Decoder<Exaone4Layer> {
  static constexpr std::string_view name = "exaone4";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
