// Spark 2.5: Llama with one gate for each head, and windowed layers with a rotation of their own.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Spark25Layer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::GatedAttention attention;
  nn::GatedMlp mlp;

  Spark25Layer(const nn::Weights& w, const nn::Metadata& m, int i) : Spark25Layer(w, m, nn::Shape(m).at(m, i), i) {}
  Spark25Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec(w, m, s, i), nn::Act::sigmoid),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i) {
    auto spec = s.attention(w, m, nn::Pairing::halves);
    if (!m.flag("attention.sliding_window_pattern", i, false)) return spec;
    spec.attend.window = m.integer("attention.sliding_window");
    spec.rope = s.rope(w, m, nn::Pairing::halves, m.real("rope.freq_base_swa", s.rope_base), true);
    return spec;
  }
};

struct Spark25 : nn::Decoder<Spark25Layer> {
  static constexpr std::string_view name = "spark2_5";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
