// HRM Text: two stacks of layers without gains, gone through in turns; each reads what both have made so far.
#pragma once

#include "inlay/nn.hpp"

namespace inlay {
inline namespace v0 {
namespace models {

/// x += attention(norm(x));  x += mlp(norm(x)). A pass through a stack begins with the sum of both states and leaves
/// its norm in one of them: high_cycles times, low_cycles passes through the low stack and one through the high one,
/// each with keys and values of its own.
struct HrmTextLayer : nn::PreNormLayer<nn::UnitRms, nn::GatedMlp, nn::GatedAttention> {
  bool first, last, high;  // of its pass; whose pass

  HrmTextLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i)
      : HrmTextLayer(w, m, s, i, stack(m), m.integer("hrm.l_cycles")) {}
  HrmTextLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, int i, int stack, int low_cycles)
      : HrmTextLayer(w.whole().layer(i % stack + (turn(i, stack, low_cycles) == low_cycles ? stack : 0)), m, s,
                     i % stack == 0, (i + 1) % stack == 0, turn(i, stack, low_cycles) == low_cycles) {}
  HrmTextLayer(const nn::Weights& w, const nn::Metadata& m, const nn::Shape& s, bool begins, bool ends, bool of_high)
      : PreNormLayer(w, s, nn::GatedAttention(w, s.attention(w, m, nn::Pairing::halves), nn::Act::sigmoid),
                     nn::GatedMlp(w, s.dim, s.hidden)),
        first(begins),
        last(ends),
        high(of_high) {}

  void operator()(nn::Tensor& x, const nn::Tensor& low_state, const nn::Tensor& high_state, int i) const {
    if (first) x.step->copy(low_state + high_state, x);
    PreNormLayer::operator()(x, i);
    if (last) x.step->copy(attn_norm(x), high ? high_state : low_state);
  }

  static int turn(int i, int stack, int low_cycles) { return i / stack % (low_cycles + 1); }
  static int stack(const nn::Metadata& m) {
    const int high = m.integer("hrm.h_cycles"), low = m.integer("hrm.l_cycles"),
              size = m.integer("hrm.layers_per_stack");
    constexpr int most = 1024;
    if (high < 1 || low < 1 || size < 1 || high > most || low > most || size > most ||
        std::int64_t(high) * (low + 1) * size != m.integer("block_count"))
      m.refuse("hrm.layers_per_stack", "does not fit block_count and the cycles");
    return size;
  }
};

struct HrmText : nn::Decoder<HrmTextLayer, nn::UnitRms> {
  static constexpr std::string_view name = "hrm_text";
  nn::Tensor low_begin;

  HrmText(const nn::Metadata& m, const nn::Weights& w)
      : Decoder(m, w), low_begin(w("hrm.z_l_init", {shape.dim})) {
    embed.scale = nn::scale_or(m, "embedding_scale", 1);
  }

  nn::Tensor operator()(nn::Step& step) const {
    auto high = embed(step);
    const auto low = step.scratch({high.rows(), high.cols()});
    const auto x = step.scratch({high.rows(), high.cols()});
    step.copy(low_begin.view_as({high.rows(), high.cols()}, {0, 1}), low);
    return decode(x, low, high);  // the head's norm is that of the last pass
  }
};

}  // namespace models
}  // namespace v0
}  // namespace inlay
