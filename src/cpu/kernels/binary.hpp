// Sums and products of rows.
#pragma once

#include "cpu/kernels/vectors.hpp"

namespace inlay::cpu {
namespace {

template <class A>
void binary(const Chunk& chunk) noexcept {
  using B = Floats<A>;
  const auto& op = *static_cast<const inlay_binary_op*>(chunk.task);
  const Rows y(*op.y), a(*op.a);
  const OptionalRows b(op.b);
  const B alpha(op.alpha);
  const auto add = [=](B left, B right) { return left + alpha * right; };
  const auto multiply = [=](B left, B right) { return left * right * alpha; };
  const Share share(a.count, chunk);
  for (auto row = share.begin; row < share.end; ++row) {
    const float* other = b[row];
    const auto with_one_number = [&](B right, auto f) {
      transform<A>(
          y[row], a.width, [=](B v) { return f(v, right); }, a[row]);
    };
    if (!other) {
      with_one_number(B(1.0f), multiply);
    } else if (b.rows.width == 1 && a.width != 1) {
      op.kind == INLAY_BINARY_ADD ? with_one_number(B(*other), add) : with_one_number(B(*other), multiply);
    } else {
      op.kind == INLAY_BINARY_ADD ? transform<A>(y[row], a.width, add, a[row], other)
                                  : transform<A>(y[row], a.width, multiply, a[row], other);
    }
  }
}

}  // namespace
}  // namespace inlay::cpu
