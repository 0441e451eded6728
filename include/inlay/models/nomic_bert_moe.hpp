// Nomic BERT with experts, and Jina BERT 3: BERT with rotation instead of positions.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// mlp(x), or experts(x) on the layers that have a router
struct NomicFeed {
  std::optional<nn::Mlp> mlp;
  nn::Moe experts;

  NomicFeed(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    if (w.has("ffn_gate_inp.weight"))
      experts = nn::Moe(w, m, s, {.hidden = s.hidden, .act = nn::Act::gelu, .gated = false});
    else
      mlp.emplace(w, s.dim, s.hidden, nn::Act::gelu);
  }
  nn::Tensor operator()(const nn::Tensor& x) const { return mlp ? (*mlp)(x) : experts(x); }
};

/// x = norm(x + attention(x));  x = norm(x + feed(x))
struct RotatedBertLayer : nn::BertLikeLayer<NomicFeed> {
  RotatedBertLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : BertLikeLayer(w, s, s.encoder_attention(w, m, nn::Pairing::halves), NomicFeed(w, m, s)) {}
};

struct NomicBertMoe : nn::TypedEncoder<RotatedBertLayer> {
  static constexpr std::string_view name = "nomic-bert-moe";
  static constexpr std::string_view also[] = {"jina-bert-v3"};
  using TypedEncoder::TypedEncoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
