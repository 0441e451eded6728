// Hunyuan 4: gated latent attention with sinks over chosen keys, and experts, between residual streams.
#pragma once

#include "inlay/nn.hpp"
#include "inlay/nn/hyper.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// h = read(x);  write(x, attention(norm(h)));  h = read'(x);  write'(x, experts(norm(h))), or an MLP on the first
/// layers. A layer without an indexer of its own reads what the last one before it chose.
struct HyV4Layer : nn::PreNormLayer<nn::RmsNorm, nn::FeedForward, nn::LatentAttention> {
  nn::HyperConnection attn_streams, mlp_streams;
  nn::LightningIndexer indexer;

  HyV4Layer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : PreNormLayer(w, s, attend(w, m, s),
                     nn::FeedForward(w, m, s, experts(m, i), i >= m.integer("leading_dense_block_count", 0))),
        attn_streams(w, m, s, "hc_attn", true),
        mlp_streams(w, m, s, "hc_ffn", true) {
    feed.moe.shared.act = feed.mlp.act = nn::Act::silu;  // of all but the chosen experts without bounds
    if (m.context <= keys(m) || !m.flag("attention.indexer.types", i, true)) return;
    indexer = nn::LightningIndexer(w, m, s, nn::Pairing::halves);
    indexer.plain = indexer.size - s.rope_dims, indexer.k_norm.eps = s.eps;
  }
  static int lists(const nn::Shape&) { return 1; }
  static int keys(const nn::Metadata& m) {
    return m.has("attention.indexer.top_k") ? nn::chosen_keys(m) : m.context;  // without an indexer all are read
  }
  static nn::Moe::Defaults experts(const nn::Metadata& m, int i) {
    const float limit = m.real("swiglu_clamp_exp", i, 0);
    return {.gating = INLAY_ROUTE_SIGMOID, .act = limit > 0 ? nn::Act::swiglu_bounded : nn::Act::silu, .limit = limit};
  }
  static nn::LatentAttention attend(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s) {
    nn::LatentAttention attention(w, m, s, nn::Pairing::halves);
    attention.gate = nn::Linear(w, "attn_gate", s.dim, attention.heads * attention.value);
    attention.sinks = w("attn_sinks.weight", {s.heads});
    return attention;
  }

  void operator()(nn::Tensor& x, const nn::Chosen& chosen, int i) const {
    const auto attending = attn_streams.weights(x);
    const auto h = attn_norm(attn_streams.read(x, attending)), low = attention.low(h);
    if (indexer) indexer(h, low, chosen, i);
    attn_streams.write(x, attending, attention(h, low, chosen.keys, i));
    const auto feeding = mlp_streams.weights(x);
    mlp_streams.write(x, feeding, feed(mlp_norm(mlp_streams.read(x, feeding))));
  }
};

struct HyV4 : nn::ChoosingDecoder<HyV4Layer> {
  static constexpr std::string_view name = "hy_v4";
  nn::HyperConnection last;
  HyV4(const nn::Metadata& m, const nn::Weights& w)
      : ChoosingDecoder(m, w, HyV4Layer::keys(m)), last(w, m, shape, "output_hc", false) {}

  nn::Tensor operator()(nn::Step& step) const {
    auto x = last.spread(embed(step));
    step.through(layers, x, chosen(step));
    return head(last.read(x, last.weights(x)));
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
