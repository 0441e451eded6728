// DeepSeek V2, V2 Lite, V3 and their kin: latent attention, and experts in groups after the first layers.
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

/// DeepSeek 3.2 and GLM 5 attend to the tokens that an indexer has chosen.
/// While there are no more tokens than the indexer may choose, it chooses all of them, and this is DeepSeek 3. That is
/// as far as contexts go here: a longer one is an error, and the tensors of the indexer ("indexer.*") are not used.
struct Deepseek32Layer : Deepseek2Layer {
  Deepseek32Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : Deepseek2Layer(w, m, s, i, {.gating = INLAY_ROUTE_SIGMOID}) {}
};

struct Deepseek32 : nn::Decoder<Deepseek32Layer> {
  static constexpr std::string_view name = "deepseek32";
  static constexpr std::string_view also[] = {"glm-dsa"};
  Deepseek32(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    const int chosen = m.integer("attention.indexer.top_k");
    if (m.context > chosen)
      throw Error(Errc::argument,
                  "the context of " + std::to_string(m.context) + " tokens is longer than the " +
                      std::to_string(chosen) + " that this model's attention reads without choosing, which is not here",
                  Fault::limit, "context");
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
