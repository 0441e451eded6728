// Activations, alone or times a second input.
#pragma once

#include <type_traits>

#include "cpu/kernels/math.hpp"
#include "cpu/kernels/vectors.hpp"

namespace inlay::cpu {
namespace {

// Calls `use` with the activation as a function of vectors.
template <class A, class Use>
inline void with_activation(std::uint32_t act, Use use) noexcept {
  using B = Floats<A>;
  switch (act) {
    case INLAY_ACT_SILU: return use([](B x) { return x * math::sigmoid(x); });
    case INLAY_ACT_GELU: return use([](B x) { return B(0.5f) * x * (B(1.0f) + math::erf(x * B(0.707106781f))); });
    case INLAY_ACT_GELU_TANH:
      return use([](B x) {
        const B inner = B(0.797884561f) * x * (B(1.0f) + B(0.044715f) * x * x);
        return B(0.5f) * x * (B(1.0f) + math::tanh(inner));
      });
    case INLAY_ACT_RELU: return use([](B x) { return xsimd::max(B(0.0f), x); });
    case INLAY_ACT_RELU2:
      return use([](B x) {
        const B positive = xsimd::max(B(0.0f), x);
        return positive * positive;
      });
    case INLAY_ACT_SIGMOID: return use([](B x) { return math::sigmoid(x); });
    case INLAY_ACT_TANH: return use([](B x) { return math::tanh(x); });
    case INLAY_ACT_SOFTPLUS: return use([](B x) { return math::softplus(x); });
    case INLAY_ACT_GELU_QUICK: return use([](B x) { return x * math::sigmoid(B(1.702f) * x); });
    default: return use([](B x) { return x; });
  }
}

// y = act(gate) * up for n values; up may be null, y may be gate or up.
template <class A>
inline void glu_row(std::uint32_t act, float alpha, float limit, float* y, const float* gate, const float* up,
                    std::int64_t n) noexcept {
  using B = Floats<A>;
  if (act == INLAY_ACT_SWIGLU_CLAMPED) {
    const auto clamped = [=](B g, B u) {
      g = xsimd::min(B(limit), g);
      u = xsimd::max(B(-limit), xsimd::min(B(limit), u));
      return g * math::sigmoid(B(alpha) * g) * (u + B(1.0f));
    };
    if (up) return transform<A>(y, n, clamped, gate, up);
    return transform<A>(
        y, n, [=](B g) { return clamped(g, B(1.0f)); }, gate);
  }
  if (act == INLAY_ACT_SWIGLU_LIMITED) {
    const auto limited = [=](B g, B u) {
      return xsimd::min(B(limit), g * math::sigmoid(g)) * xsimd::max(B(-limit), xsimd::min(B(limit), u));
    };
    if (up) return transform<A>(y, n, limited, gate, up);
    return transform<A>(
        y, n, [=](B g) { return limited(g, B(1.0f)); }, gate);
  }
  if (act == INLAY_ACT_SWIGLU_BOUNDED) {
    const auto bounded = [=](B g, B u) {
      g = xsimd::min(B(limit), g);
      return g * math::sigmoid(g) * xsimd::max(B(-limit), xsimd::min(B(limit), u));
    };
    if (up) return transform<A>(y, n, bounded, gate, up);
    return transform<A>(
        y, n, [=](B g) { return bounded(g, B(1.0f)); }, gate);
  }
  if (act == INLAY_ACT_CLAMP) {
    return transform<A>(
        y, n, [=](B g) { return xsimd::max(B(-limit), xsimd::min(B(limit), g)); }, gate);
  }
  with_activation<A>(act, [=](auto f) {
    if (up)
      return transform<A>(
          y, n, [=](B g, B u) { return f(g) * u; }, gate, up);
    transform<A>(y, n, f, gate);
  });
}

template <class A>
inline void xielu_row(const inlay_glu_op& op, float* y, const float* x, std::int64_t n) noexcept {
  using B = Floats<A>;
  const B rise(op.alpha), fall(op.limit), slope(op.beta);
  transform<A>(
      y, n,
      [=](B u) {
        const B below = xsimd::min(u, B(-1e-6f));
        const B curve = xsimd::select(u > B(0.0f), rise * u * u, fall * (math::exp(below) - B(1.0f) - u));
        return curve + slope * u;
      },
      x);
}

template <class A>
void glu(const Chunk& chunk) noexcept {
  const auto& op = *static_cast<const inlay_glu_op*>(chunk.task);
  const Rows y(*op.y), gate(*op.gate);
  const OptionalRows up(op.up);
  const Share share(gate.count, chunk);
  for (auto row = share.begin; row < share.end; ++row) {
    if (op.act == INLAY_ACT_XIELU)
      xielu_row<A>(op, y[row], gate[row], gate.width);
    else
      glu_row<A>(op.act, op.alpha, op.limit, y[row], gate[row], up[row], gate.width);
  }
}

}  // namespace
}  // namespace inlay::cpu
