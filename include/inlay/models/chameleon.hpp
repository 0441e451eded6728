// Chameleon: Llama whose queries and keys are layer-normed in each head; the 34B has its norms behind the blocks.
#pragma once

#include <algorithm>
#include <limits>

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)), or x += norm(attention(x));  x += norm(mlp(x))
struct ChameleonLayer : nn::LlamaLike {
  bool norms_behind;
  ChameleonLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)), norms_behind(m.flag("swin_norm", false)) {}

  void operator()(nn::Tensor& x, int i) const {
    if (!norms_behind) return PreNormLayer::operator()(x, i);
    x += attn_norm(attention(x, i));
    x += mlp_norm(feed(x));
  }

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m);
    spec.norm = INLAY_NORM_LAYER, spec.norm_eps = 1e-5f;
    return spec;
  }
};

/// The tokens that pictures are made of are left out of the logits: texts have none.
struct Chameleon : nn::Decoder<ChameleonLayer> {
  static constexpr std::string_view name = "chameleon";
  Chameleon(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    constexpr int first = 4, end = 8196;
    if (shape.vocabulary < end) return;
    std::vector<float> bias(std::size_t(shape.vocabulary));
    std::fill(bias.begin() + first, bias.begin() + end, std::numeric_limits<float>::lowest());
    head.bias = w.constant(bias);
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
