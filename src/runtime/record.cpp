// What the blocks of a model call: each adds one operation to the step's list.
#include <algorithm>

#include "runtime/step.hpp"

namespace inlay {
inline namespace v0 {
namespace nn {

using runtime::Record;

namespace {

constexpr std::size_t line = 64;

std::int64_t width_of(std::uint32_t type) { return type == INLAY_F32 || type == INLAY_I32 ? 4 : 2; }

}  // namespace

std::int64_t Step::tokens() const noexcept { return state_->pass->sizes.tokens; }
std::int64_t Step::wanted() const noexcept { return state_->pass->sizes.wanted; }

Tensor Step::scratch(std::initializer_list<std::int64_t> shape, std::uint32_t type) {
  Tensor t;
  t.step = this;
  t.view.type = type, t.view.rank = std::uint32_t(shape.size());
  std::copy(shape.begin(), shape.end(), t.view.shape);
  std::int64_t bytes = width_of(type);
  for (auto i = shape.size(); i-- > 0;) t.view.stride[i] = bytes, bytes *= t.view.shape[i];
  t.view.data = state_->take(std::max((std::size_t(bytes) + line - 1) / line * line, line));
  return t;
}

std::size_t Step::enter_layer(int index) {
  state_->add(INLAY_OP_COUNT).layer = index;
  return state_->used;
}

void Step::leave_layer(std::size_t kept, const Tensor& x, const void* home) {
  state_->give_back(kept);
  if (x.view.data != home)
    throw Error(Errc::argument, "a layer returned its result in scratch memory instead of changing x in place");
}

Tensor Step::embed_rows(const Tensor& table, inlay_embed_by by) {
  auto y = scratch({tokens(), table.cols()});
  auto& r = state_->add(INLAY_OP_EMBED);
  r.embed = {sizeof(r.embed), std::uint32_t(by), state_->keep(y), state_->keep(table)};
  return y;
}

Tensor Step::given(std::int64_t width) { return state_->pass->given = scratch({tokens(), width}); }
bool Step::keeps_hidden() const noexcept { return state_->keeps_hidden; }
void Step::keep_hidden(const Tensor& x) { state_->pass->hidden = x; }

Tensor Step::embed(const Tensor& table) { return embed_rows(table, INLAY_EMBED_ID); }
Tensor Step::embed_positions(const Tensor& table) { return embed_rows(table, INLAY_EMBED_POSITION); }
Tensor Step::embed_types(const Tensor& table) { return embed_rows(table, INLAY_EMBED_TYPE); }

Tensor Step::norm(inlay_norm_kind kind, const Tensor& x, const Tensor& gain, const Tensor& bias, float eps) {
  auto y =
      x.view.rank == 3 ? scratch({x.view.shape[0], x.view.shape[1], x.view.shape[2]}) : scratch({x.rows(), x.cols()});
  auto& r = state_->add(INLAY_OP_NORM);
  r.norm = {sizeof(r.norm), kind, state_->keep(y), state_->keep(x), state_->keep(gain), state_->keep(bias), eps};
  return y;
}

Tensor Step::size(inlay_norm_kind kind, const Tensor& x, float eps) {
  auto y = scratch({x.rows(), 1});
  auto& r = state_->add(INLAY_OP_NORM);
  r.norm = {sizeof(r.norm), kind, state_->keep(y), state_->keep(x), nullptr, nullptr, eps};
  return y;
}

Tensor Step::linear(const Tensor& x, const Tensor& weight, const Tensor& bias, float scale) {
  const bool by_head = weight.view.rank == 3;
  auto y = by_head ? scratch({x.rows(), weight.view.shape[0], weight.view.shape[1]})
                   : scratch({x.rows(), weight.view.shape[0]});
  linear_into(y, x, weight, bias, scale);
  return y;
}

void Step::linear_into(const Tensor& y, const Tensor& x, const Tensor& weight, const Tensor& bias, float scale) {
  if (weight.view.rank == 3) {
    const auto head = [](const Tensor& t, std::int64_t h) {
      auto one = t.heads(h, 1);
      one.view.rank = 2, one.view.shape[1] = t.view.shape[2], one.view.stride[1] = t.view.stride[2];
      return one;
    };
    for (std::int64_t h = 0; h < weight.view.shape[0]; ++h) {
      auto matrix = weight.slice(h, 1);
      matrix.view.rank = 2;
      std::copy(weight.view.shape + 1, weight.view.shape + 4, matrix.view.shape);
      std::copy(weight.view.stride + 1, weight.view.stride + 4, matrix.view.stride);
      linear_into(head(y, h), head(x, h), matrix, {}, scale);
    }
    return;
  }
  auto& r = state_->add(INLAY_OP_LINEAR);
  r.y[0] = state_->keep(y), r.w[0] = state_->keep(weight), r.bias[0] = state_->keep(bias), r.scale[0] = scale;
  r.linear = {sizeof(r.linear), 1, state_->keep(x), nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr};
}

void Step::copy(const Tensor& from, const Tensor& to) {
  auto& r = state_->add(INLAY_OP_BINARY);
  r.binary = {sizeof(r.binary), INLAY_BINARY_MUL, state_->keep(to), state_->keep(from), nullptr, 1};
}

Tensor Step::binary(inlay_binary_kind kind, const Tensor& a, const Tensor& b, float alpha, bool in_place) {
  auto y = in_place           ? a
           : a.view.rank == 3 ? scratch({a.view.shape[0], a.view.shape[1], a.view.shape[2]})
                              : scratch({a.rows(), a.cols()});
  auto& r = state_->add(INLAY_OP_BINARY);
  r.binary = {sizeof(r.binary), kind, state_->keep(y), state_->keep(a), state_->keep(b), alpha};
  return y;
}

Tensor Step::glu(Act act, const Tensor& gate, const Tensor& up, float alpha, float limit, float beta) {
  auto y = gate.view.rank == 3 ? scratch({gate.view.shape[0], gate.view.shape[1], gate.view.shape[2]})
                               : scratch({gate.rows(), gate.cols()});
  auto& r = state_->add(INLAY_OP_GLU);
  r.glu = {sizeof(r.glu), std::uint32_t(act), state_->keep(y), state_->keep(gate), state_->keep(up), alpha, limit,
           beta};
  return y;
}

Tensor Step::pick_wanted(const Tensor& x) {
  auto y = scratch({wanted(), x.cols()});
  auto& r = state_->add(INLAY_OP_PICK);
  r.pick = {sizeof(r.pick), INLAY_PICK_ROWS, state_->keep(y), state_->keep(x), &state_->rows};
  return y;
}

Tensor Step::pool(inlay_pick_kind kind, const Tensor& x) {
  auto y = scratch({state_->pass->sizes.sequences, x.cols()});
  auto& r = state_->add(INLAY_OP_PICK);
  r.pick = {sizeof(r.pick), kind, state_->keep(y), state_->keep(x), nullptr};
  return y;
}

Step::Routed Step::route(const Tensor& logits, const RouteSpec& spec) {
  Routed routed{scratch({logits.rows(), spec.used}, INLAY_I32), scratch({logits.rows(), spec.used})};
  auto& r = state_->add(INLAY_OP_ROUTE);
  r.route = {sizeof(r.route),
             spec.kind,
             state_->keep(routed.choice),
             state_->keep(routed.weight),
             state_->keep(logits),
             state_->keep(spec.bias),
             spec.groups,
             spec.groups_used,
             spec.group_top,
             spec.normalise,
             spec.scale,
             state_->keep(spec.factor)};
  return routed;
}

Tensor Step::experts(const Tensor& x, const Routed& routed, const Experts& e) {
  auto y = scratch({x.rows(), e.down.view.shape[1]});
  auto& r = state_->add(INLAY_OP_EXPERTS);
  r.experts = {sizeof(r.experts),
               std::uint32_t(e.act),
               state_->keep(y),
               state_->keep(x),
               state_->keep(routed.choice),
               state_->keep(routed.weight),
               state_->keep(e.gate),
               state_->keep(e.up),
               state_->keep(e.down),
               state_->keep(e.gate_bias),
               state_->keep(e.up_bias),
               state_->keep(e.down_bias),
               nullptr,
               e.alpha,
               e.limit,
               e.weight_first,
               0,
               state_->keep(e.gate_factor),
               state_->keep(e.up_factor),
               e.run};
  return y;
}

}  // namespace nn
}  // namespace v0
}  // namespace inlay
