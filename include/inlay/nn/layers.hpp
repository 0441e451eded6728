// The layers that many architectures share, for those that only choose their parts.
#pragma once

#include <variant>

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

  PreNormLayer(const Weights& w, const Shape& s, const Attention::Spec& spec, Feed f,
               const std::string& second_norm = "ffn_norm")
      : PreNormLayer(w, s, Attend(w, spec), std::move(f), second_norm) {}
  PreNormLayer(const Weights& w, const Shape& s, Attend a, Feed f, const std::string& second_norm = "ffn_norm")
      : attn_norm(w, "attn_norm", s.dim, s.eps),
        mlp_norm(w, second_norm, s.dim, s.eps),
        attention(std::move(a)),
        feed(std::move(f)) {}

  void operator()(Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    x += feed(mlp_norm(x));
  }

  Cache cache() const { return attention.cache(); }
};

/// x += mixer(norm(x))
template <class Mixer>
struct MixerLayer {
  RmsNorm norm;
  Mixer mixer;

  MixerLayer(const Weights& w, const Metadata& m, const Shape& s, int)
      : norm(w, "attn_norm", s.dim, s.eps), mixer(w, m, s.dim, s.eps) {}

  void operator()(Tensor& x, int i) const { x += mixer(norm(x), i); }

  Cache cache() const { return mixer.cache(); }
};

/// Attention on some layers, another mixer on the rest.
template <class Attend, class Other>
struct AttentionOr {
  std::variant<Attend, Other> mixer;
  AttentionOr(Attend a) : mixer(std::move(a)) {}
  AttentionOr(Other o) : mixer(std::move(o)) {}

  Tensor operator()(const Tensor& x, int layer) const {
    return std::visit([&](const auto& m) { return m(x, layer); }, mixer);
  }
  Cache cache() const {
    return std::visit([](const auto& m) { return m.cache(); }, mixer);
  }
};

/// x += r attention(norm(x));  x += r feed(norm(x))
template <class Feed, class Attend = Attention>
struct ScaledLayer : PreNormLayer<RmsNorm, Feed, Attend> {
  float residual;

  ScaledLayer(const Weights& w, const Shape& s, Attend a, Feed f, float r)
      : PreNormLayer<RmsNorm, Feed, Attend>(w, s, std::move(a), std::move(f)), residual(r) {}

  void operator()(Tensor& x, int i) const {
    auto h = this->attention(this->attn_norm(x), i);
    x += h *= residual;
    auto f = this->feed(this->mlp_norm(x));
    x += f *= residual;
  }
};

/// h = norm(x);  x += attention(h) + feed(h)
template <class Norm, class Feed>
struct ParallelLayer {
  Norm norm;
  Attention attention;
  Feed feed;

  ParallelLayer(const Weights& w, const Shape& s, const Attention::Spec& spec, Feed f)
      : norm(w, "attn_norm", s.dim, s.eps), attention(w, spec), feed(std::move(f)) {}

  void operator()(Tensor& x, int i) const {
    const auto h = norm(x);
    x += attention(h, i) + feed(h);
  }

  Cache cache() const { return attention.cache(); }
};

/// x = norm(x + attention(x));  x = norm(x + feed(x)), in an encoder
template <class Feed>
struct BertLikeLayer {
  Attention attention;
  Feed feed;
  LayerNorm attn_norm, mlp_norm;

  BertLikeLayer(const Weights& w, const Shape& s, const Attention::Spec& spec, Feed f)
      : attention(w, spec),
        feed(std::move(f)),
        attn_norm(w, "attn_output_norm", s.dim, s.eps),
        mlp_norm(w, "layer_output_norm", s.dim, s.eps) {}

  void operator()(Tensor& x, int i) const {
    x += attention(x, i);
    x.step->copy(attn_norm(x), x);
    x += feed(x);
    x.step->copy(mlp_norm(x), x);
  }
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
