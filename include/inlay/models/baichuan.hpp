// Baichuan: Llama, and in the 13B with slopes over distances (ALiBi) instead of rotation; no key says which.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct BaichuanLayer : nn::LlamaLike {
  BaichuanLayer(const nn::Weights& w, const nn::Metadata& m, int) : BaichuanLayer(w, m, nn::Shape(m)) {}
  BaichuanLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    constexpr int layers_of_13b = 40;
    if (s.layers != layers_of_13b) return s.attention(w, m);
    auto spec = s.attention_unrotated();
    spec.attend.slopes = w.constant(nn::alibi_slopes(s.heads));
    return spec;
  }
};

struct Baichuan : nn::Decoder<BaichuanLayer> {
  static constexpr std::string_view name = "baichuan";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
