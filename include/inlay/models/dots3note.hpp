// dots 3 note: gated latent attention, behind a window with sizes of its own or over keys that an indexer chooses.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += experts(norm(x)), or an MLP on the first layers
struct Dots3NoteLayer : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::LatentAttention> {
  nn::LightningIndexer indexer;

  Dots3NoteLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(
            w, s, attend(w, m, s, i),
            nn::FeedForward(w, m, s, {.gating = INLAY_ROUTE_SIGMOID}, i >= m.integer("leading_dense_block_count"))) {
    if (attention.window == 0 && m.context > nn::chosen_keys(m))
      indexer = nn::LightningIndexer(w, m, s, nn::Pairing::adjacent);
  }
  static int lists(const nn::Shape&) { return 1; }
  static nn::LatentAttention attend(const nn::Weights& w, const nn::Metadata& m, nn::Shape s, int i) {
    const bool local = m.flag("attention.sliding_window_pattern", i, false);
    if (local) s.rope_base = m.real("rope.freq_base_swa");
    nn::LatentAttention attention(w, m, s, nn::Pairing::adjacent, local ? "_swa" : "");
    attention.q_a_norm.eps = attention.kv_a_norm.eps = s.eps;
    attention.k_norm = nn::RmsNorm(w, "attn_k_norm", attention.rotated, s.eps);
    attention.gate = nn::Linear(w, "attn_gate", s.dim, s.heads);
    if (local) attention.window = m.integer("attention.sliding_window");
    return attention;
  }

  void operator()(nn::Tensor& x, const nn::Chosen& chosen, int i) const {
    const auto h = attn_norm(x), low = attention.low(h);
    if (indexer) indexer(h, low, chosen, i);
    x += attention(h, low, indexer ? chosen.keys : nn::Tensor(), i);
    x += feed(mlp_norm(x));
  }
};

struct Dots3Note : nn::ChoosingDecoder<Dots3NoteLayer> {
  static constexpr std::string_view name = "dots3note";
  using ChoosingDecoder::ChoosingDecoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
