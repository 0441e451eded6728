// ERNIE 4.5 MoE: experts chosen with a bias on most layers, and one shared by all tokens.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers and between
struct Ernie45MoeLayer : nn::MoeLike {
  Ernie45MoeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention(w, m), nn::FeedForward(w, m, s, {.normalise = true}, sparse(m, i))) {}

  static bool sparse(const nn::Metadata& m, int i) {
    return i >= m.integer("leading_dense_block_count", 0) && (i + 1) % m.integer("interleave_moe_layer_step", 1) == 0;
  }
};

struct Ernie45Moe : nn::Decoder<Ernie45MoeLayer> {
  static constexpr std::string_view name = "ernie4_5-moe";
  using Decoder::Decoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
