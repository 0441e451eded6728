// Nomic BERT: BERT with rotation instead of positions, and a gated MLP.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x = norm(x + attention(x));  x = norm(x + mlp(x))
struct NomicBertLayer : nn::BertLikeLayer<nn::GatedMlp> {
  NomicBertLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : BertLikeLayer(w, s, s.encoder_attention(w, m, nn::Pairing::halves), nn::GatedMlp(w, s.dim, s.hidden)) {}
};

struct NomicBert : nn::TypedEncoder<NomicBertLayer> {
  static constexpr std::string_view name = "nomic-bert";
  using TypedEncoder::TypedEncoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
