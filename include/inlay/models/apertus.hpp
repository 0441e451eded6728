// Apertus: Llama with normed queries and keys, and an MLP of xIELU.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// y = down(xielu(up(x))), with the activation's numbers for each layer. Huang and Schlag 2024.
struct XieluMlp {
  nn::Linear up, down;
  float rise, fall, slope;
  XieluMlp(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : up(w, "ffn_up", s.dim, s.hidden), down(w, "ffn_down", s.hidden, s.dim), slope(m.shared("xielu.beta", i, 0.5f)) {
    const auto softplus = [](float x) { return std::log1p(std::exp(x)); };
    rise = softplus(m.shared("xielu.alpha_p", i));
    fall = slope + softplus(m.shared("xielu.alpha_n", i));
  }
  nn::Tensor operator()(const nn::Tensor& x) const {
    return down(x.step->glu(nn::Act::xielu, up(x), {}, rise, fall, slope));
  }
};

/// x += attention(norm(x));  x += mlp(norm(x))
struct ApertusLayer : nn::PreNormLayer<nn::RmsNorm, XieluMlp> {
  ApertusLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), XieluMlp(w, m, s, i)) {}
};

struct Apertus : nn::Decoder<ApertusLayer> {
  static constexpr std::string_view name = "apertus";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
