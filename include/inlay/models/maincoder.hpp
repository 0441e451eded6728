// Maincoder: Llama whose queries and keys are normed in every head after they are rotated.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct MaincoderLayer : nn::LlamaLike {
  MaincoderLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, spec(w, m, s), nn::GatedMlp(w, s.dim, s.hidden)) {}

  static nn::Attention::Spec spec(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    auto spec = s.attention(w, m);
    spec.norm_after_rope = true;
    return spec;
  }
};

struct Maincoder : nn::Decoder<MaincoderLayer> {
  static constexpr std::string_view name = "maincoder";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
