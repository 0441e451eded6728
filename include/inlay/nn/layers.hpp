// The layers that many architectures share, for those that only choose their parts.
#pragma once

#include "inlay/nn/gated.hpp"
#include "inlay/nn/moe.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// x += attention(norm(x));  x += feed(norm(x))
template <class Norm, class Feed, class Attend = Attention>
struct PreNormLayer {
  Norm attn_norm, mlp_norm;
  Attend attention;
  Feed feed;

  PreNormLayer(const Weights& w, const Shape& s, const Attention::Spec& spec, Feed f)
      : PreNormLayer(w, s, Attend(w, spec), std::move(f)) {}
  PreNormLayer(const Weights& w, const Shape& s, Attend a, Feed f)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        attention(std::move(a)),
        feed(std::move(f)) {}

  void operator()(Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += feed(mlp_norm(x));
  }

  Cache cache() const { return attention.cache(); }
};

/// x += norm(attention(x));  x += norm(mlp(x))
struct PostNormLayer {
  RmsNorm attn_norm, mlp_norm;
  Attention attention;
  GatedMlp mlp;

  PostNormLayer(const Weights& w, const Shape& s, const Attention::Spec& spec)
      : attn_norm(w, "post_attention_norm", s.dim, s.eps),
        mlp_norm(w, "post_ffw_norm", s.dim, s.eps),
        attention(w, spec),
        mlp(w, s.dim, s.hidden) {}

  void operator()(Tensor& x, int i) const {
    x += attn_norm(attention(x, i));
    x += mlp_norm(mlp(x));
  }

  Cache cache() const { return attention.cache(); }
};

/// x += norm(attention(norm(x)));  x += norm(feed(norm(x)))
template <class Feed, class Attend = Attention>
struct SandwichLayer {
  RmsNorm attn_norm, post_attn_norm, mlp_norm, post_mlp_norm;
  Attend attention;
  Feed feed;

  SandwichLayer(const Weights& w, const Shape& s, Attend a, Feed f)
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        post_attn_norm(w, "post_attention_norm", s.dim, s.eps),
        mlp_norm(w, "ffn_norm", s.dim, s.eps),
        post_mlp_norm(w, "post_ffw_norm", s.dim, s.eps),
        attention(std::move(a)),
        feed(std::move(f)) {}

  void operator()(Tensor& x, int i) const {
    x += post_attn_norm(attention(attn_norm(x), i));
    x += post_mlp_norm(feed(mlp_norm(x)));
  }

  Cache cache() const { return attention.cache(); }
};

using LlamaLike = PreNormLayer<RmsNorm, GatedMlp>;
using MoeLike = PreNormLayer<RmsNorm, FeedForward>;

}  // namespace nn
}  // namespace v0
}  // namespace inlay
