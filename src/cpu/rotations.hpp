// Rotary positions: the cosines and sines of a step, and turning a head by them.
#pragma once

#include "inlay/backend.h"

namespace inlay::cpu {

class Plan;

struct Turn {
  float cosine, sine;
};

// [T, dims / 2] turns for all tokens of the step. They are computed once for all operations that turn alike, and stay
// until the step is over. Null while a step is only measured.
const Turn* rotations(Plan& plan, const inlay_rope_op& op);

namespace {  // also compiled for each instruction set

// y = x turned, for the first 2 * pairs values of a head; y may be x.
[[maybe_unused]] inline void rotate_head(const inlay_rope_op& op, const Turn* turns, const float* x,
                                         float* y) noexcept {
  const int pairs = op.dims / 2;
  const int step = op.interleaved ? 2 : 1, apart = op.interleaved ? 1 : pairs;
  for (int j = 0; j < pairs; ++j) {
    const float first = x[j * step], second = x[j * step + apart];
    y[j * step] = first * turns[j].cosine - second * turns[j].sine;
    y[j * step + apart] = first * turns[j].sine + second * turns[j].cosine;
  }
}

}  // namespace
}  // namespace inlay::cpu
