// Nanbeige: Llama whose layers may be gone through several times, with keys and values of their own each time.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)); the last norm also stands between the turns
struct NanbeigeLayer : nn::LlamaLike {
  nn::RmsNorm between;
  NanbeigeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.hidden)) {}

  void operator()(nn::Tensor& x, int i) const {
    PreNormLayer::operator()(x, i);
    if (between) x.step->copy(between(x), x);
  }
};

struct Nanbeige {
  static constexpr std::string_view name = "nanbeige";
  nn::Shape shape;
  nn::Embedding embed;
  nn::Layers<NanbeigeLayer> layers;
  nn::Head head;

  Nanbeige(const nn::Metadata& m, const nn::Weights& w)
      : shape(m),
        embed(w, "token_embd", shape.vocabulary, shape.dim),
        layers(w.memory()),
        head(w, shape.vocabulary, shape.dim, shape.eps) {
    constexpr int most_turns = 16;
    const int turns = m.integer("num_loops", 1);
    if (turns < 1 || turns > most_turns) m.refuse("num_loops", "must be from 1 to 16");
    for (int turn = 0; turn < turns; ++turn)
      for (int i = 0; i < shape.layers; ++i) layers.emplace_back(w.layer(i), m, shape);
    if (m.flag("skip_loop_final_norm", false)) return;
    for (int turn = 1; turn < turns; ++turn) layers[std::size_t(turn * shape.layers - 1)].between = head.norm;
  }

  nn::Tensor operator()(nn::Step& step) const {
    auto x = embed(step);
    step.through(layers, x);
    return head(x);
  }

  std::vector<nn::Cache> caches() const {
    std::vector<nn::Cache> all;
    for (const auto& layer : layers) all.push_back(layer.cache());
    return all;
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
