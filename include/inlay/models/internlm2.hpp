// InternLM 2: Llama under another name.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Internlm2Layer : nn::LlamaLike {
  Internlm2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::adjacent), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct Internlm2 : nn::Decoder<Internlm2Layer> {
  static constexpr std::string_view name = "internlm2";
  static constexpr std::string_view also[] = {"chatglm"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
