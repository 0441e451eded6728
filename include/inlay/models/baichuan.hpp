// Baichuan: Llama, and in the 13B with slopes over distances (ALiBi) instead of rotation; no key says which.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct BaichuanLayer : nn::LlamaLike {
  BaichuanLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    constexpr int layers_of_13b = 40;
    return s.layers == layers_of_13b ? s.attention_sloped(w) : s.attention(w, m);
  }
};

struct Baichuan : nn::Decoder<BaichuanLayer> {
  static constexpr std::string_view name = "baichuan";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
