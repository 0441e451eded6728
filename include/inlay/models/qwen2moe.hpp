// Qwen 2 MoE: experts whose weights are not normalised, and a gated expert shared by all tokens.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x))
struct Qwen2MoeLayer : nn::MoeLike {
  Qwen2MoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(
            w, s, s.attention(w, m, nn::Pairing::halves),
            nn::FeedForward(w, m, s,
                            {.hidden = s.hidden / m.integer("expert_used_count", 1), .shared_hidden = s.hidden})) {}
};

struct Qwen2Moe : nn::Decoder<Qwen2MoeLayer> {
  static constexpr std::string_view name = "qwen2moe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
