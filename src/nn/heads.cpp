// Medusa's heads.
#include "inlay/nn/heads.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

namespace {

constexpr int most_heads = 16, most_blocks = 8;

}  // namespace

Medusa::Medusa(const Metadata& m, const Weights& w) : dim(Shape(m).dim), vocabulary(m.vocabulary), all(w.memory()) {
  for (int k = 0; k < most_heads; ++k) {
    const auto own = w.under("medusa." + std::to_string(k) + ".");
    if (!own.has("output.weight")) break;
    auto& head = all.emplace_back(w.memory());
    for (int n = 0; n < most_blocks && own.has(std::to_string(n) + ".weight"); ++n)
      head.blocks.emplace_back(own, std::to_string(n), dim, dim);
    head.output = Linear(own, "output", dim, vocabulary);
  }
}

Tensor Medusa::operator()(Step& step) const {
  const auto given = step.pick_wanted(step.given(dim));
  const auto y = step.scratch({step.wanted(), heads() * vocabulary});
  for (int k = 0; k < heads(); ++k) {
    auto x = given;
    for (const auto& block : all[std::size_t(k)].blocks) x = x + step.glu(Act::silu, block(x), {});
    const auto& output = all[std::size_t(k)].output;
    step.linear_into(y.columns(k * vocabulary, vocabulary), x, output.weight, output.bias, output.scale);
  }
  return y;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
