// Refact: Llama with slopes over distances (ALiBi) instead of rotation.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct RefactLayer : nn::LlamaLike {
  RefactLayer(const nn::Weights& w, const nn::Metadata& m, int) : RefactLayer(w, nn::Shape(m)) {}
  RefactLayer(const nn::Weights& w, const nn::Shape& s)
      : PreNormLayer(w, s, spec(w, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Shape& s) {
    auto spec = s.attention_unrotated();
    spec.attend.slopes = w.constant(nn::alibi_slopes(s.heads));
    return spec;
  }
};

struct Refact : nn::Decoder<RefactLayer> {
  static constexpr std::string_view name = "refact";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
