// The layer that most decoders share, for architectures that only choose its parts.
#pragma once

#include "inlay/nn/moe.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// x += attention(norm(x));  x += feed(norm(x))
template <class Norm, class Feed>
struct PreNormLayer {
  Norm attn_norm, mlp_norm;
  Attention attention;
  Feed feed;

  PreNormLayer(const Weights& w, const Shape& s, const Attention::Spec& spec, Feed f)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(w, spec),
        feed(std::move(f)) {}

  void operator()(Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += feed(mlp_norm(x));
  }

  Cache cache() const { return attention.cache(); }
};

using LlamaLike = PreNormLayer<RmsNorm, GatedMlp>;
using MoeLike = PreNormLayer<RmsNorm, FeedForward>;

}  // namespace nn
}  // namespace v0
}  // namespace inlay
