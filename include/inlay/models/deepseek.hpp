// DeepSeek MoE: Llama with fine experts after the first layers, and one shared by all tokens. Dai et al. 2024.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct DeepseekLayer : nn::MoeLike {
  DeepseekLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention(w, m),
                     nn::FeedForward(w, m, s, {.hidden = s.hidden}, i >= m.integer("leading_dense_block_count", 0))) {}
};

struct Deepseek : nn::Decoder<DeepseekLayer> {
  static constexpr std::string_view name = "deepseek";
  static constexpr std::string_view also[] = {"bailingmoe", "deepseek2-ocr"};
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
