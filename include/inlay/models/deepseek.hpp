// DeepSeek MoE: Llama with fine experts after the first layers, and one shared by all tokens. Dai et al. 2024.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct DeepseekLayer : nn::MoeLike {
  DeepseekLayer(const nn::Weights& w, const nn::Metadata& m, int i) : DeepseekLayer(w, m, nn::Shape(m), i) {}
  DeepseekLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention(w, m),
                     nn::FeedForward(w, m, s, experts(m, s), i >= m.integer("leading_dense_block_count", 0))) {}

  static nn::Moe::Defaults experts(const nn::Metadata& m, const nn::Shape& s) {
    const auto hidden = m.integer("expert_feed_forward_length", s.hidden);
    return {.hidden = hidden, .shared_hidden = std::int64_t(hidden) * m.integer("expert_shared_count", 1)};
  }
};

struct Deepseek : nn::Decoder<DeepseekLayer> {
  static constexpr std::string_view name = "deepseek";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
