// T5: an encoder reads the source both ways, a decoder writes with the source in view. Raffel et al. 2020.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// Attention without rotation and scale. Instead, each head adds what it learned for the distance of a key, in buckets;
/// a layer without buckets of its own uses those of the first.
inline nn::Attention::Spec t5_attention(const nn::Weights& side, const nn::Shape& s, int i, bool both_ways) {
  auto spec = both_ways ? s.encoder_attention() : s.attention_unrotated();
  const auto w = side.layer(side.layer(i).has("attn_rel_b.weight") ? i : 0);
  const auto shape = w.shape("attn_rel_b.weight");
  const auto buckets = shape.empty() ? 32 : shape[0];
  if (buckets < 4 || buckets > 254 || buckets % 2)  // so that half of them, or a quarter, are below the farthest, 128
    w.refuse("attn_rel_b.weight", "its buckets must be an even number from 4 to 254");
  spec.attend.scale = 1, spec.attend.bias = w("attn_rel_b.weight", {buckets, s.heads});
  return spec;
}

/// y = down(relu(up(x))), or in later versions down(gelu(gate(x)) * up(x))
struct T5Mlp : nn::Mlp {
  nn::Linear gate;
  T5Mlp(const nn::Weights& w, const nn::Shape& s) : Mlp(w, s.dim, s.hidden, nn::Act::relu) {
    gate.weight = w.maybe_matrix("ffn_gate.weight", {s.hidden, s.dim});
  }
  nn::Tensor operator()(const nn::Tensor& x) const {
    if (!gate) return Mlp::operator()(x);
    const auto gated = gate(x);
    return down(x.step->glu(nn::Act::gelu_tanh, gated, up(x)));
  }
};

/// x += attention(norm(x));  in a decoder x += attention to the source(norm(x));  x += mlp(norm(x))
struct T5Layer {
  nn::RmsNorm attn_norm, source_norm, mlp_norm;
  nn::Attention attention;
  std::optional<nn::SourceAttention> source;
  T5Mlp mlp;
  T5Layer(const nn::Weights& side, const nn::Shape& s, int i, std::optional<int> source_cache)
      : attn_norm(side.layer(i), "attn_norm", s.dim, s.eps),
        mlp_norm(side.layer(i), "ffn_norm", s.dim, s.eps),
        attention(side.layer(i), t5_attention(side, s, i, !source_cache)),
        mlp(side.layer(i), s) {
    if (!source_cache) return;
    source_norm = nn::RmsNorm(side.layer(i), "cross_attn_norm", s.dim, s.eps);
    source.emplace(side.layer(i).under("cross_"), s, *source_cache, 1.f);
  }
  void operator()(nn::Tensor& x, int i) const {
    x += attention(attn_norm(x), i);
    if (source) x += (*source)(source_norm(x));
    x += mlp(mlp_norm(x));
  }
};

/// The first pass, a model of its own as "t5encoder".
struct T5Encoder {
  static constexpr std::string_view name = "t5encoder";
  static constexpr bool encodes = true;
  nn::Shape shape;
  nn::Embedding embed;
  nn::Layers<T5Layer> layers;
  nn::RmsNorm norm;
  T5Encoder(const nn::Metadata& m, const nn::Weights& w)
      : shape(m),
        embed(w, "token_embd", shape.vocabulary, shape.dim),
        layers(w.memory()),
        norm(w, "enc.output_norm", shape.dim, shape.eps) {
    for (int i = 0; i < shape.layers; ++i) layers.emplace_back(w.under("enc."), shape, i, std::nullopt);
  }
  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    step.through(layers, x);
    return norm(x);
  }
  std::vector<nn::Cache> caches() const { return std::vector<nn::Cache>(layers.size()); }
};

/// Where the head is tied to the embedding, what goes into it is scaled by 1 / sqrt(D).
struct T5 : nn::EncoderDecoder<T5Encoder, T5Layer> {
  static constexpr std::string_view name = "t5";
  T5(const nn::Metadata& m, const nn::Weights& w) : EncoderDecoder(m, w, "dec.output_norm") {
    const auto& s = encoder.shape;
    const int count = m.integer("decoder_block_count", s.layers);
    if (count < 1) m.refuse("decoder_block_count", "must be at least 1");
    for (int i = 0; i < count; ++i) {
      layers.emplace_back(w.under("dec."), s, i, count + i);
      sources.emplace_back(w.under("dec.").layer(i).under("cross_"), s, count + i);
    }
    if (!w.has("output.weight")) head.scale = 1 / std::sqrt(float(s.dim));
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
