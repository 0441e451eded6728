// The outer shape nearly every decoder shares: embed, layers, head.
#pragma once

#include <cmath>
#include <optional>

#include "inlay/nn/blocks.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// One slope for each head (Press, Smith and Lewis 2022); `most`: the largest bias of a step.
INLAY_API std::vector<float> alibi_slopes(int heads, float most = 8);

enum class Eps { either, layer };          ///< which epsilon: the RMS norms' if there, or always the layer norms'
enum class YarnBounds { rounded, exact };  ///< of the correction range

/// The same attention in an encoder, which sees what comes later, too; a window reaches as far to both sides.
inline Attention::Spec both_ways(Attention::Spec spec) {
  spec.attend.encoder = true, spec.attend.mask = spec.attend.window > 0 ? Mask::symmetric : Mask::all;
  return spec;
}

/// The numbers every GGUF decoder states under the same keys. Where the file describes a recurrent mixer, or has a
/// number for each layer, heads and widths may be 0: that layer has no attention, or no MLP.
struct INLAY_API Shape {
  int layers, dim, heads, kv_heads, head_dim, value_dim, hidden, vocabulary, rope_dims;
  float eps, rope_base;
  float clamp;  ///< of queries, keys and values; 0: none

  explicit Shape(const Metadata& m, Eps which = Eps::either);
  /// The numbers of one layer, where the file gives an array of heads or widths.
  Shape at(const Metadata& m, int layer) const;

  /// Frequencies from the base and the file's scaling keys and factors.
  Rope rope(const Weights& w, const Metadata& m, Pairing pairing) const { return rope(w, m, pairing, rope_base, true); }
  Rope rope(const Weights& w, const Metadata& m, Pairing pairing, float base, bool scaled,
            YarnBounds bounds = YarnBounds::rounded) const;

  Attention::Spec attention(const Weights& w, const Metadata& m, Pairing pairing = Pairing::adjacent) const {
    auto spec = attention_unrotated();
    spec.rope = rope(w, m, pairing);
    return spec;
  }
  /// Through the sliding window, rotated by the base "rope.freq_base_swa" or else by `base`, and `scaled` as the layers
  /// that see everything or not.
  Attention::Spec attention_windowed(const Weights& w, const Metadata& m, Pairing pairing, float base,
                                     bool scaled) const {
    auto spec = attention_unrotated();
    spec.attend.window = m.integer("attention.sliding_window");
    spec.rope = rope(w, m, pairing, m.real("rope.freq_base_swa", base), scaled);
    return spec;
  }
  /// With slopes over distances instead of rotation (ALiBi); `most`: the largest bias of a step.
  Attention::Spec attention_sloped(const Weights& w, float most = 8) const {
    auto spec = attention_unrotated();
    spec.attend.slopes = w.constant(alibi_slopes(heads, most));
    return spec;
  }
  /// Through the sliding window and rotated where `local`, else neither.
  Attention::Spec attention_rotated_locally(const Weights& w, const Metadata& m, Pairing pairing, bool local) const {
    if (!local) return attention_unrotated();
    auto spec = attention(w, m, pairing);
    spec.attend.window = m.integer("attention.sliding_window");
    return spec;
  }
  Attention::Spec encoder_attention() const { return both_ways(attention_unrotated()); }
  Attention::Spec encoder_attention(const Weights& w, const Metadata& m, Pairing pairing) const {
    return both_ways(attention(w, m, pairing));
  }
  Attention::Spec attention_unrotated() const {
    return {.dim = dim,
            .attend = {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .value_dim = value_dim},
            .rope = {},
            .norm_eps = eps,
            .clamp = clamp};
  }
};

/// A scale that the file states under `key`; absent or 0 means `otherwise`.
INLAY_API float scale_or(const Metadata& m, std::string_view key, float otherwise);

/// The table "position_embd"; throws Error{argument} where the session's context is longer.
INLAY_API Tensor learned_positions(const Metadata& m, const Weights& w, std::int64_t dim);

/// A factor for each position of the context, [context, 1], for Step::embed_positions.
template <class Function>
Tensor position_scale(const Weights& w, const Metadata& m, const Function& factor) {
  std::vector<float> factors;
  factors.reserve(std::size_t(m.context));
  for (int p = 0; p < m.context; ++p) factors.push_back(factor(p));
  auto table = w.constant(factors);
  table.view.rank = 2, table.view.shape[1] = 1, table.view.stride[1] = table.view.stride[0];
  return table;
}

/// 1 + beta ln(1 + floor(p / length)) for each position, which queries are multiplied with; empty where the file has no
/// beta, "attention.temperature_scale".
INLAY_API Tensor temperatures(const Weights& w, const Metadata& m, std::string_view length_key);

/// True where a layer looks through the sliding window: all but the last of each `period` layers (dense_first: all but
/// the first), or as "attention.sliding_window_pattern" says.
INLAY_API bool windowed(const Metadata&, int layer, int period, bool dense_first = false);

/// A Layer is built from (weights of the layer, metadata, shape of the layer, index) and called with (x, index).
template <class Layer, class Norm = RmsNorm>
class Decoder {
 public:
  using Block = Layer;
  using LastNorm = Norm;
  Decoder(const Metadata& m, const Weights& w) : Decoder(m, w, Shape(m)) {}
  Decoder(const Metadata& m, const Weights& w, const Shape& s, const std::string& last_norm = "output_norm")
      : shape(s),
        embed(w, "token_embd", shape.vocabulary, shape.dim),
        layers(w.memory()),
        head(w, shape.vocabulary, shape.dim, shape.eps, last_norm) {
    layers.reserve(std::size_t(shape.layers));
    for (int i = 0; i < shape.layers; ++i) layers.emplace_back(w.layer(i), m, shape.at(m, i), i);
  }

  Tensor operator()(Step& step) const { return decode(embed(step)); }

  std::vector<Cache> caches() const {
    std::vector<Cache> out;
    for (const auto& layer : layers) out.push_back(layer.cache());
    return out;
  }

 protected:
  /// The logits of what the layers, which also read `shared`, make of x.
  template <class... Shared>
  Tensor decode(Tensor x, const Shared&... shared) const {
    x.step->through(layers, x, shared...);
    return head(x);
  }

  Shape shape;
  Embedding embed;
  Layers<Layer> layers;
  HeadOf<Norm> head;
};

/// A decoder whose embedding is normed, "token_embd_norm".
template <class Layer, class Norm = RmsNorm, class EmbeddingNorm = Norm>
class NormedDecoder : public Decoder<Layer, Norm> {
 public:
  NormedDecoder(const Metadata& m, const Weights& w)
      : Decoder<Layer, Norm>(m, w), embed_norm(w, "token_embd_norm", this->shape.dim, this->shape.eps) {}

  Tensor operator()(Step& step) const { return this->decode(embedded(step)); }

 protected:
  Tensor embedded(Step& step) const { return embed_norm(this->embed(step)); }

  EmbeddingNorm embed_norm;
};

/// A decoder that fills texts in instead of writing on: layers that attend both ways, and keep nothing.
template <class Layer>
class FillingDecoder : public Decoder<Layer> {
 public:
  static constexpr bool looks_ahead = true;
  using Decoder<Layer>::Decoder;
  std::vector<Cache> caches() const { return std::vector<Cache>(this->layers.size()); }
};

/// What encoders share: they return [T, dim], one row for each token, and keep nothing.
template <class Layer>
class Encoder {
 public:
  static constexpr bool encodes = true;
  Encoder(const Metadata& m, const Weights& w) : Encoder(m, w, Shape(m)) {}
  Encoder(const Metadata& m, const Weights& w, const Shape& s)
      : shape(s), embed(w, "token_embd", s.vocabulary, s.dim), layers(w.memory()) {
    layers.reserve(std::size_t(shape.layers));
    for (int i = 0; i < shape.layers; ++i) layers.emplace_back(w.layer(i), m, shape.at(m, i), i);
  }
  std::vector<Cache> caches() const { return std::vector<Cache>(layers.size()); }

 protected:
  Shape shape;
  Embedding embed;
  Layers<Layer> layers;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
