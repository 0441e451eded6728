// DeepSeek V2, V2 Lite, V3, V3.2 and their kin: latent attention, and experts in groups after the first layers.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct Deepseek2Layer : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::LatentAttention> {
  Deepseek2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : Deepseek2Layer(w, m, s, i, experts(w)) {}
  Deepseek2Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i, const nn::Moe::Defaults& d)
      : PreNormLayer(w, s, nn::LatentAttention(w, m, s, nn::Pairing::adjacent),
                     nn::FeedForward(w, m, s, d, i >= m.integer("leading_dense_block_count", 0))) {}

  // Files that state no gating have sigmoids where a bias has its part in the choice, as since DeepSeek 3.
  static nn::Moe::Defaults experts(const nn::Weights& w) {
    return {.gating = w.has("exp_probs_b.bias") ? INLAY_ROUTE_SIGMOID : INLAY_ROUTE_SOFTMAX};
  }
};

struct Deepseek2 : nn::Decoder<Deepseek2Layer> {
  static constexpr std::string_view name = "deepseek2";
  static constexpr std::string_view also[] = {"mistral4"};
  using Decoder::Decoder;
};

/// DeepSeek 3.2 and GLM 5: x += attention(norm(x)) over the keys that an indexer chooses;  x += experts(norm(x)), or an
/// MLP on the first layers. A layer without an indexer of its own reads what the last one before it chose.
template <nn::Pairing pairing>
struct Deepseek32Layer : Deepseek2Layer {
  nn::LightningIndexer indexer;

  Deepseek32Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : Deepseek2Layer(w, m, s, i, {.gating = INLAY_ROUTE_SIGMOID}) {
    if (i >= s.layers || m.context <= nn::chosen_keys(m)) return;
    const bool own = pairing == nn::Pairing::halves || w.has("indexer.attn_k.weight");  // where no key says so
    if (i == 0 || m.flag("attention.indexer.types", i, own)) indexer = nn::LightningIndexer(w, m, s, pairing);
  }
  static int lists(const nn::Shape&) { return 1; }

  using Deepseek2Layer::operator();  // reads all keys, which is good enough for guesses
  void operator()(nn::Tensor& x, const nn::Chosen& chosen, int i) const {
    const auto h = attn_norm(x), low = attention.low(h);
    if (indexer) indexer(h, low, chosen, i);
    x += attention(h, low, chosen.keys, i);
    x += feed(mlp_norm(x));
  }
};

struct Deepseek32 : nn::ChoosingDecoder<Deepseek32Layer<nn::Pairing::halves>> {
  static constexpr std::string_view name = "deepseek32";
  using ChoosingDecoder::ChoosingDecoder;
};

struct GlmDsa : nn::ChoosingDecoder<Deepseek32Layer<nn::Pairing::adjacent>> {
  static constexpr std::string_view name = "glm-dsa";
  using ChoosingDecoder::ChoosingDecoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
