// MiniMax M3: attention over chosen blocks of keys, and experts with clamped gates beside a shared one.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x)) over the chosen keys;  x += experts(norm(x)). The first layers read all, and have an MLP.
struct MinimaxM3Layer : nn::MoeLike {
  nn::BlockIndexer indexer;

  MinimaxM3Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, s.attention(w, m, nn::Pairing::halves), nn::FeedForward(w, m, s, experts(), !leads(m, i))) {
    for (auto* mlp : {&feed.mlp, &feed.moe.shared}) mlp->alpha = experts().alpha, mlp->limit = experts().limit;
    if (!leads(m, i) && m.context > nn::chosen_keys(m)) indexer = nn::BlockIndexer(w, m, s, nn::Pairing::halves);
    attention.spec.attend.chosen_run = indexer.spec.run;
  }
  static int lists(const nn::Shape& s) { return s.kv_heads; }
  static bool leads(const nn::Metadata& m, int i) { return i < m.integer("leading_dense_block_count", 0); }
  static nn::Moe::Defaults experts() {
    return {
        .gating = INLAY_ROUTE_SIGMOID, .normalise = true, .act = nn::Act::swiglu_clamped, .alpha = 1.702f, .limit = 7};
  }

  void operator()(nn::Tensor& x, const nn::Chosen& chosen, int i) const {
    const auto h = attn_norm(x);
    auto spec = attention.spec.attend;
    if (indexer) indexer(h, chosen, i), spec.choice = chosen.keys;
    const auto heads = attention.project(h);
    x += attention.o(x.step->attend(i, heads.q, heads.k, heads.v, spec));
    x += feed(mlp_norm(x));
  }
};

struct MinimaxM3 : nn::ChoosingDecoder<MinimaxM3Layer> {
  static constexpr std::string_view name = "minimax-m3";
  using ChoosingDecoder::ChoosingDecoder;
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
