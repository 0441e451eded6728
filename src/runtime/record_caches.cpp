// What the blocks of a model call that keep something between steps: attention, the choice of its keys, scans, and the
// rotations before them.
#include <algorithm>
#include <cmath>

#include "runtime/step.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

void Step::rope(const Tensor& x, const Rope& rope) {
  auto& r = state_->add(INLAY_OP_ROPE);
  r.rope = {sizeof(r.rope),
            rope.pairing == Pairing::adjacent,
            state_->keep(x),
            state_->keep(rope.frequencies),
            rope.magnitude,
            rope.dims,
            {}};
  std::copy(std::begin(rope.sections), std::end(rope.sections), r.rope.sections);
}

Tensor Step::attend(int layer, const Tensor& q, const Tensor& k, const Tensor& v, const AttendSpec& spec) {
  const std::int64_t value_dim = spec.value_dim ? spec.value_dim : spec.head_dim;
  auto y = scratch({tokens(), spec.heads, value_dim});
  auto& r = state_->add(INLAY_OP_ATTENTION);
  const auto mask = spec.mask == Mask::causal && spec.window ? Mask::sliding : spec.mask;
  r.attention = {sizeof(r.attention),
                 std::uint32_t(mask),
                 state_->keep(y),
                 state_->keep(q),
                 state_->keep(k),
                 state_->keep(v),
                 state_->keep(spec.sinks),
                 state_->keep(spec.slopes),
                 state_->keep(spec.bias),
                 spec.encoder ? nullptr : &state_->keys_values[std::size_t(layer)],
                 nullptr,
                 nullptr,
                 spec.scale != 0 ? spec.scale : 1 / std::sqrt(float(spec.head_dim)),
                 spec.softcap,
                 spec.window,
                 spec.chosen_run,
                 state_->keep(spec.choice)};
  return y.join();
}

void Step::store(int layer, const Tensor& k, const Tensor& v) {
  auto& r = state_->add(INLAY_OP_ATTENTION);
  r.attention = {};
  r.attention.size = sizeof(r.attention);
  r.attention.k = state_->keep(k), r.attention.v = state_->keep(v);
  r.attention.cache = &state_->keys_values[std::size_t(layer)];
}

void Step::choose(int layer, const Tensor& choice, const Tensor& q, const Tensor& k, const Tensor& weight,
                  const ChooseSpec& spec) {
  auto& r = state_->add(INLAY_OP_CHOOSE);
  r.choose = {sizeof(r.choose), spec.run,        spec.local,           state_->keep(choice),
              state_->keep(q),  state_->keep(k), state_->keep(weight), &state_->keys_values[std::size_t(layer)]};
}

Tensor Step::scan(inlay_scan_kind kind, int layer, const Tensor& x, std::initializer_list<Tensor> in,
                  std::initializer_list<std::int64_t> shape, int heads, int groups, Act act, float eps,
                  std::int64_t state_offset) {
  auto y = scratch(shape);
  auto& r = state_->add(INLAY_OP_SCAN);
  int n = 0;
  for (const auto& tensor : in) r.in[n++] = state_->keep(tensor);
  r.scan = {sizeof(r.scan),
            kind,
            state_->keep(y),
            state_->keep(x),
            nullptr,
            n,
            heads,
            groups,
            &state_->states[std::size_t(layer)],
            std::uint32_t(act),
            eps,
            state_offset};
  return y;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
