// Softmax over keys that come in blocks: weights against the largest score so far, and joining parts afterwards.
#pragma once

#include <algorithm>
#include <limits>

#include "cpu/attention.hpp"
#include "cpu/kernels/math.hpp"
#include "cpu/kernels/vectors.hpp"
#include "cpu/simd/unroll.hpp"

namespace inlay::cpu {
namespace {

inline constexpr float nothing_seen = -std::numeric_limits<float>::infinity();

template <class A>
inline float exp_of_negative(float x) noexcept {
  float lanes[Floats<A>::size];
  math::exp_of_negative(Floats<A>(x)).store_unaligned(lanes);
  return lanes[0];
}

// What changes the scores of one query with a block of keys; positions count from the block's first key.
struct BlockView {
  KeyRange seen;
  std::int64_t position;
  float softcap, slope;  // 0: none
  const float* bias;     // [64], or null

  bool plain() const noexcept {
    return softcap == 0 && slope == 0 && !bias && seen.begin <= 0 && seen.end >= block_keys;
  }
};

// Changes scores[64] as the operation says; what is not seen becomes minus infinity.
template <class A>
inline void bend(const BlockView& view, float* scores) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size);
  float ramp[lanes];
  for (int i = 0; i < lanes; ++i) ramp[i] = static_cast<float>(i);
  const B first(static_cast<float>(std::clamp<std::int64_t>(view.seen.begin, 0, block_keys)));
  const B end(static_cast<float>(std::clamp<std::int64_t>(view.seen.end, 0, block_keys)));
  for (int i = 0; i < block_keys; i += lanes) {
    B score = B::load_unaligned(scores + i);
    const B index = B::load_unaligned(ramp) + B(static_cast<float>(i));
    if (view.softcap != 0) score = B(view.softcap) * math::tanh(quotient(score, B(view.softcap)));
    if (view.slope != 0) score = score - B(view.slope) * xsimd::abs(B(static_cast<float>(view.position)) - index);
    if (view.bias) score = score + B::load_unaligned(view.bias + i);
    xsimd::select((index >= first) & (index < end), score, B(nothing_seen)).store_unaligned(scores + i);
  }
}

// Turns scores[rows][score_stride] into weights against the largest scores so far; factors[rows] are what all earlier
// weights are to be multiplied by. The rows go through each stage together, since a stage alone would wait for its own
// results.
template <class A, int rows>
inline void weigh(float* scores, float* largest, float* weight, float* factors) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size);
  float spread[rows][lanes];
  for (int r = 0; r < rows; ++r) {
    B most = B::load_unaligned(scores + r * score_stride);
    unroll<block_keys / lanes - 1>(
        [&](auto i) { most = xsimd::max(most, B::load_unaligned(scores + r * score_stride + (i + 1) * lanes)); });
    most.store_unaligned(spread[r]);
  }
  float steps[(rows + lanes - 1) / lanes * lanes] = {};
  for (int r = 0; r < rows; ++r) {
    float most = largest[r];
    for (const float number : spread[r]) most = number > most ? number : most;
    steps[r] = most == largest[r] ? 0.0f : largest[r] - most;
    largest[r] = most;
  }
  for (int r = 0; r < rows; r += lanes) math::exp_of_negative(B::load_unaligned(steps + r)).store_unaligned(steps + r);
  for (int r = 0; r < rows; ++r) {
    const B most(largest[r] == nothing_seen ? 0.0f : largest[r]);  // then all weights are 0
    B sum(0.0f);
    unroll<block_keys / lanes>([&](auto i) {
      float* place = scores + r * score_stride + i * lanes;
      const B share = math::exp_of_negative(B::load_unaligned(place) - most);
      share.store_unaligned(place);
      sum = sum + share;
    });
    sum.store_unaligned(spread[r]);
  }
  for (int r = 0; r < rows; ++r) {
    float total = 0;
    for (const float number : spread[r]) total += number;
    factors[r] = steps[r];
    weight[r] = weight[r] * factors[r] + total;
  }
}

// What a row knows of the keys it has seen: sums of values, the largest score, and the sum of weights against it.
struct RowState {
  float *sums, *largest, *weight;
};

// Joins a later part to `all`.
template <class A>
inline void join(const RowState& all, const RowState& part, int value_stride) noexcept {
  using B = Floats<A>;
  if (*part.largest == nothing_seen) return;
  const float largest = std::max(*all.largest, *part.largest);
  const float old_factor = exp_of_negative<A>(*all.largest - largest);
  const float new_factor = exp_of_negative<A>(*part.largest - largest);
  const auto joined = [=](B a, B b) { return fused(a, B(old_factor), b * B(new_factor)); };
  transform<A>(all.sums, value_stride, joined, all.sums, part.sums);
  *all.weight = *all.weight * old_factor + *part.weight * new_factor;
  *all.largest = largest;
}

// y = the mean of the values by weight, where a sink (or null) takes its share of the weights.
template <class A>
inline void finish(const RowState& all, const float* sink, float* y, int value_dims) noexcept {
  using B = Floats<A>;
  float factor = 1, weight = *all.weight;
  if (sink && *all.largest != nothing_seen) {
    const float largest = std::max(*all.largest, *sink);
    factor = exp_of_negative<A>(*all.largest - largest);
    weight = weight * factor + exp_of_negative<A>(*sink - largest);
  }
  if (weight == 0) return void(std::fill_n(y, value_dims, 0.0f));
  transform<A>(
      y, value_dims, [=](B sum) { return sum * B(factor) / B(weight); }, all.sums);
}

}  // namespace
}  // namespace inlay::cpu
