// Nanbeige: Llama whose layers may be gone through several times, with keys and values of their own each time.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)); the last norm also stands between the turns
struct NanbeigeLayer : nn::LlamaLike {
  nn::RmsNorm between;
  NanbeigeLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int)
      : PreNormLayer(w, s, s.attention(w, m), nn::GatedMlp(w, s.dim, s.hidden)) {}

  void operator()(nn::Tensor& x, int i) const {
    PreNormLayer::operator()(x, i);
    if (between) x.step->copy(between(x), x);
  }
};

struct Nanbeige : nn::Decoder<NanbeigeLayer> {
  static constexpr std::string_view name = "nanbeige";
  Nanbeige(const nn::Metadata& m, const nn::Weights& w) : Decoder(m, w) {
    constexpr int most_turns = 16;
    const int turns = m.integer("num_loops", 1);
    if (turns < 1 || turns > most_turns) m.refuse("num_loops", "must be from 1 to 16");
    for (int turn = 1; turn < turns; ++turn) {
      if (!m.flag("skip_loop_final_norm", false)) layers.back().between = head.norm;
      for (int i = 0; i < shape.layers; ++i) layers.emplace_back(w.layer(i), m, shape.at(m, i), i);
    }
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
