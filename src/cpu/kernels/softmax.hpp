// Softmax over keys that come in blocks: weights against the largest score so far, and joining parts afterwards.
#pragma once

#include <algorithm>
#include <limits>

#include "cpu/attention.hpp"
#include "cpu/kernels/math.hpp"
#include "cpu/kernels/vectors.hpp"

namespace inlay::cpu {
namespace {

inline constexpr float nothing_seen = -std::numeric_limits<float>::infinity();

template <class A>
inline float exp_of_negative(float x) noexcept {
  float lanes[Floats<A>::size];
  math::exp_of_negative(Floats<A>(x)).store_unaligned(lanes);
  return lanes[0];
}

// One query's view of a block of keys; positions count from the block's first key.
struct BlockView {
  KeyRange seen;
  std::int64_t position;
  float softcap, slope;  // 0: none
  const float* bias;     // [64], or null
};

// Turns scores[64] into weights. Returns by what all earlier weights are to be multiplied.
template <class A>
inline float weigh(const BlockView& view, float* scores, float& largest, float& weight) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size), count = block_keys / lanes;
  float numbers[lanes];
  for (int i = 0; i < lanes; ++i) numbers[i] = static_cast<float>(i);
  const B ramp = B::load_unaligned(numbers);
  const bool whole = view.seen.begin <= 0 && view.seen.end >= block_keys;
  const B first(static_cast<float>(std::max<std::int64_t>(view.seen.begin, 0)));
  const B end(static_cast<float>(std::min<std::int64_t>(view.seen.end, block_keys)));
  B score[count], most(nothing_seen);
  for (int i = 0; i < count; ++i) {
    score[i] = B::load_unaligned(scores + i * lanes);
    if (view.softcap != 0) score[i] = B(view.softcap) * math::tanh(score[i] / B(view.softcap));
    const B index = ramp + B(static_cast<float>(i * lanes));
    if (view.slope != 0) score[i] = score[i] - B(view.slope) * xsimd::abs(B(static_cast<float>(view.position)) - index);
    if (view.bias) score[i] = score[i] + B::load_unaligned(view.bias + i * lanes);
    if (!whole) score[i] = xsimd::select((index >= first) & (index < end), score[i], B(nothing_seen));
    most = xsimd::max(most, score[i]);
  }
  most.store_unaligned(numbers);
  const float before = largest;
  largest = std::max(largest, *std::max_element(numbers, numbers + lanes));
  if (largest == nothing_seen) {
    std::fill_n(scores, block_keys, 0.0f);
    return 1.0f;
  }
  B sum(0.0f);
  for (int i = 0; i < count; ++i) {
    const B share = math::exp_of_negative(score[i] - B(largest));
    share.store_unaligned(scores + i * lanes);
    sum = sum + share;
  }
  const float factor = before == largest ? 1.0f : exp_of_negative<A>(before - largest);
  sum.store_unaligned(numbers);
  float total = 0;
  for (const float number : numbers) total += number;
  weight = weight * factor + total;
  return factor;
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
  const auto joined = [=](B a, B b) { return xsimd::fma(a, B(old_factor), b * B(new_factor)); };
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
  transform<A>(y, value_dims, [=](B sum) { return sum * B(factor) / B(weight); }, all.sums);
}

}  // namespace
}  // namespace inlay::cpu
