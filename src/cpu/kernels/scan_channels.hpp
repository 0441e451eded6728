// Recurrent mixers whose channels go their own ways: short convolution, selective scan, token shift.
#pragma once

#include <algorithm>
#include <cstring>

#include "cpu/kernels/glu.hpp"
#include "cpu/scan.hpp"

namespace inlay::cpu {
namespace {

struct Channels {
  std::int64_t begin, end;
  Channels(const ScanPiece& piece, std::int64_t all) noexcept
      : begin(piece.number * piece_channels), end(std::min(all, begin + piece_channels)) {}
};

// y = act(bias + sum over k of weight[c,k] * x[t - (taps - 1) + k, c])
template <class A>
void scan_conv(const ScanPiece& piece) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size);
  const inlay_tensor& weight = *piece.input(0);
  const std::int64_t all = columns(*piece.op.x), kept = columns(weight) - 1;
  const Channels channels(piece, all);
  float* taps = piece.scratch;  // [kept + 1][channels of a piece]
  for (auto c = channels.begin; c < channels.end; ++c) {
    for (std::int64_t k = 0; k <= kept; ++k) taps[k * piece_channels + c - channels.begin] = row_address(weight, c)[k];
  }
  const float* bias = piece.numbers(1);
  for (auto t = piece.first; t < piece.end; ++t) {
    const float* x = row_address(*piece.op.x, t);
    float* y = row_address(*piece.op.y, t);
    for (auto c = channels.begin; c < channels.end; c += lanes) {
      const std::int64_t left = channels.end - c;
      const float* tap = taps + c - channels.begin;
      float* state = piece.state + c;
      const B newest = load_some<A>(x + c, left);
      B sum = bias ? load_some<A>(bias + c, left) : B(0.0f);
      for (std::int64_t k = 0; k < kept; ++k) {
        const B older = load_some<A>(state + k * all, left);
        if (k > 0) store_some<A>(older, state + (k - 1) * all, left);
        sum = fused(load_some<A>(tap + k * piece_channels, left), older, sum);
      }
      if (kept > 0) store_some<A>(newest, state + (kept - 1) * all, left);
      store_some<A>(fused(load_some<A>(tap + kept * piece_channels, left), newest, sum), y + c, left);
    }
    glu_row<A>(piece.op.act, 0, 0, y + channels.begin, y + channels.begin, nullptr, channels.end - channels.begin);
  }
}

// s = s * exp(step A) + step x B;  y = s C + D x
template <class A>
void scan_selective(const ScanPiece& piece) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size);
  const inlay_scan_op& op = piece.op;
  const inlay_tensor& decay = *piece.input(1);
  const std::int64_t all = columns(*op.x), size = all / op.heads, width = columns(*piece.input(2)) / op.groups;
  const Channels channels(piece, all);
  const std::int64_t first_head = channels.begin / size, heads = (channels.end - 1) / size + 1 - first_head;
  const float *skip = piece.numbers(4), *bias = piece.numbers(5);
  const bool one_decay = columns(decay) == 1;
  float *steps = piece.scratch, *decays = steps + piece_channels;
  for (auto t = piece.first; t < piece.end; ++t) {
    const float *x = row_address(*op.x, t), *dt = row_address(*piece.input(0), t);
    const float *b = row_address(*piece.input(2), t), *c = row_address(*piece.input(3), t);
    for (std::int64_t h = 0; h < heads; ++h) steps[h] = dt[first_head + h] + (bias ? bias[first_head + h] : 0.0f);
    transform<A>(
        steps, heads, [](B v) { return math::softplus(v); }, steps);
    if (one_decay) {
      for (std::int64_t h = 0; h < heads; ++h) decays[h] = steps[h] * *row_address(decay, first_head + h);
      transform<A>(
          decays, heads, [](B v) { return math::exp(v); }, decays);
    }
    float* y = row_address(*op.y, t);
    for (auto i = channels.begin; i < channels.end; ++i) {
      const std::int64_t head = i / size, group = head * op.groups / op.heads * width;
      const B step(steps[head - first_head]), input = step * B(x[i]);
      const float* rates = row_address(decay, head);
      float* state = piece.state + i * width;
      B sum(0.0f);
      for (std::int64_t n = 0; n < width; n += lanes) {
        const std::int64_t left = width - n;
        const B factor = one_decay ? B(decays[head - first_head]) : math::exp(step * load_some<A>(rates + n, left));
        const B s = fused(load_some<A>(state + n, left), factor, input * load_some<A>(b + group + n, left));
        store_some<A>(s, state + n, left);
        sum = fused(s, load_some<A>(c + group + n, left), sum);
      }
      y[i] = sum_of_lanes<A>(sum) + (skip ? skip[head] * x[i] : 0.0f);
    }
  }
}

// y = the token before; with mu[J,C]: y[T,J,C] = x + (the token before - x) * mu_j
template <class A>
void scan_shift(const ScanPiece& piece) noexcept {
  using B = Floats<A>;
  constexpr int lanes = static_cast<int>(B::size);
  const inlay_tensor* mu = piece.input(0);
  const std::int64_t parts = mu ? rows(*mu) : 1;
  const Channels channels(piece, columns(*piece.op.x));
  for (auto t = piece.first; t < piece.end; ++t) {
    const float* x = row_address(*piece.op.x, t);
    for (auto c = channels.begin; c < channels.end; c += lanes) {
      const std::int64_t left = channels.end - c;
      const B newest = load_some<A>(x + c, left), before = load_some<A>(piece.state + c, left);
      for (std::int64_t j = 0; j < parts; ++j) {
        const B y = mu ? newest + (before - newest) * load_some<A>(row_address(*mu, j) + c, left) : before;
        store_some<A>(y, row_address(*piece.op.y, t * parts + j) + c, left);
      }
      store_some<A>(newest, piece.state + c, left);
    }
  }
}

template <class A>
void scan_channels(const Chunk& chunk) noexcept {
  const ScanPiece piece(*static_cast<const ScanTask*>(chunk.task), chunk);
  switch (piece.op.kind) {
    case INLAY_SCAN_CONV: return scan_conv<A>(piece);
    case INLAY_SCAN_SELECTIVE: return scan_selective<A>(piece);
    default: return scan_shift<A>(piece);
  }
}

}  // namespace
}  // namespace inlay::cpu
