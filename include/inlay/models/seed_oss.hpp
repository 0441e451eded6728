// Seed OSS: Qwen 2 whose second norm has another name.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct SeedOssLayer : nn::LlamaLike {
  SeedOssLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden),
                     "post_attention_norm") {}
};

struct SeedOss : nn::Decoder<SeedOssLayer> {
  static constexpr std::string_view name = "seed_oss";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
