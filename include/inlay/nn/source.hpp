// Attention of a decoder to its source: keys and values of what an encoder made are kept once, and asked by each token.
#pragma once

#include "inlay/nn/decoder.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

/// Keys and values "attn_k", "attn_v" of the encoded source, for the layer whose SourceAttention has the same `cache`.
struct SourceKeys {
  Linear keys, values;
  Cache kept;
  int index;
  SourceKeys(const Weights& w, const Shape& s, int cache)
      : keys(w, "attn_k", s.dim, std::int64_t(s.kv_heads) * s.head_dim),
        values(w, "attn_v", s.dim, std::int64_t(s.kv_heads) * s.value_dim),
        kept{.kv_heads = s.kv_heads, .head_dim = s.head_dim, .value_dim = s.value_dim, .of_source = true},
        index(cache) {}
  void operator()(const Tensor& encoded, int) const {
    const auto k = keys(encoded), v = values(encoded);
    encoded.step->store(index, k.split(kept.kv_heads), v.split(kept.kv_heads));
  }
};

/// y = o(softmax(scale q(x) k') v) over all of the source
struct SourceAttention {
  Linear q, o;
  AttendSpec spec;
  int index;
  SourceAttention(const Weights& w, const Shape& s, int cache, float scale)
      : q(w, "attn_q", s.dim, std::int64_t(s.heads) * s.head_dim),
        o(w, "attn_o", std::int64_t(s.heads) * s.value_dim, s.dim),
        spec(s.attention_unrotated().attend),
        index(cache) {
    spec.scale = scale, spec.mask = Mask::all;
  }
  Tensor operator()(const Tensor& x) const { return o(x.step->attend(index, q(x).split(spec.heads), {}, {}, spec)); }
};

/// What encoder-decoders share: the encoder reads the source, the layers write with it in view. The caches of the
/// sources follow those of the layers.
template <class Encoder, class Layer>
class EncoderDecoder {
 public:
  EncoderDecoder(const Metadata& m, const Weights& w, const std::string& last_norm)
      : encoder(m, w),
        layers(w.memory()),
        sources(w.memory()),
        head(w, encoder.shape.vocabulary, encoder.shape.dim, encoder.shape.eps, last_norm) {}

  Tensor operator()(Step& step) const {
    auto x = encoder.embed(step);
    step.through(layers, x);
    return head(x);
  }
  Tensor read_source(Step& step) const {
    auto x = encoder(step);
    step.through(sources, x);
    return x;
  }
  std::vector<Cache> caches() const {
    std::vector<Cache> all;
    for (const auto& layer : layers) all.push_back(layer.attention.cache());
    for (const auto& source : sources) all.push_back(source.kept);
    return all;
  }

 protected:
  Encoder encoder;
  Layers<Layer> layers;
  Layers<SourceKeys> sources;
  Head head;
};

}  // namespace nn
}  // namespace v0
}  // namespace inlay
