// Seed OSS: Qwen 2 whose second norm has another name.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct SeedOssLayer {
  nn::RmsNorm attn_norm, mlp_norm;
  nn::Attention attention;
  nn::GatedMlp mlp;

  SeedOssLayer(const nn::Weights& w, const nn::Metadata& m, int) : SeedOssLayer(w, m, nn::Shape(m)) {}
  SeedOssLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "post_attention_norm", s.dim, s.eps),
        attention(w, s.attention(w, m, nn::Pairing::halves)),
        mlp(w, s.dim, s.hidden) {}

  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += mlp(mlp_norm(x));
  }

  nn::Cache cache() const { return attention.cache(); }
};

struct SeedOss : nn::Decoder<SeedOssLayer> {
  static constexpr std::string_view name = "seed_oss";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
