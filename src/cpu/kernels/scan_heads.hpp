// Recurrent mixers whose heads each keep a matrix: gated delta, RWKV-6 and -7, retention. Some tokens are prepared at
// once, then a strip of the matrix stays in registers and the first-level cache while they pass.
#pragma once

#include <algorithm>
#include <cmath>

#include "cpu/kernels/math.hpp"
#include "cpu/kernels/norm.hpp"
#include "cpu/scan.hpp"

namespace inlay::cpu {
namespace {

template <class A>
class HeadScan {
 public:
  explicit HeadScan(const ScanPiece& piece) noexcept
      : piece_(piece),
        op_(piece.op),
        size_(columns(*piece.input(0))),
        width_(columns(*piece.op.x)),
        state_(piece.state + piece.number * size_ * width_) {}

  void operator()() noexcept {
    for (auto t = piece_.first; t < piece_.end; t += scan_tokens) {
      const int tokens = static_cast<int>(std::min<std::int64_t>(scan_tokens, piece_.end - t));
      for (int i = 0; i < tokens; ++i) prepare(t, i);
      if (op_.kind == INLAY_SCAN_RWKV7) {
        for (std::int64_t i = 0; i < size_; ++i) rwkv7_row(t, tokens, i);
        continue;
      }
      for (std::int64_t j = 0; j < width_; j += strip) {
        op_.kind == INLAY_SCAN_GATED_DELTA ? delta_strip(t, tokens, j) : linear_strip(t, tokens, j);
      }
    }
  }

 private:
  using B = Floats<A>;
  static constexpr int lanes = static_cast<int>(B::size), vectors = 4, strip = vectors * lanes;

  std::int64_t row(std::int64_t t) const noexcept { return t * op_.heads + piece_.number; }
  const float* input(int i, std::int64_t t) const noexcept { return row_address(*piece_.input(i), row(t)); }
  // What was prepared of token `i`: 0 queries, 1 keys, 2 decays, 3 and 4 as the kind needs.
  float* prepared(int what, int i) const noexcept { return piece_.scratch + (what * scan_tokens + i) * size_; }

  void scaled(const float* x, double factor, float* y) const noexcept {
    for (std::int64_t i = 0; i < size_; ++i) y[i] = static_cast<float>(x[i] * factor);
  }

  void prepare(std::int64_t first, int i) const noexcept {
    const std::int64_t t = first + i;
    if (op_.kind == INLAY_SCAN_GATED_DELTA) return prepare_delta(t, i);
    const bool rwkv7 = op_.kind == INLAY_SCAN_RWKV7;
    scaled(input(0, t), op_.kind == INLAY_SCAN_RETENTION ? 1 / std::sqrt(static_cast<double>(size_)) : 1.0,
           prepared(0, i));
    scaled(input(1, t), 1, prepared(1, i));
    const inlay_tensor& decay = *piece_.input(2);
    const float* d = row_address(decay, row(t) % rows(decay));
    const auto factor = [rwkv7](B v) {
      return rwkv7 ? math::exp(B(-0.606531f) * math::sigmoid(v)) : math::exp(-math::exp(v));
    };
    columns(decay) == 1 ? transform<A>(
                              prepared(2, i), size_, [=](B) { return factor(B(*d)); }, prepared(0, i))
                        : transform<A>(prepared(2, i), size_, factor, d);
    if (!rwkv7) return;
    const float *kappa = input(3, t), *a = input(4, t);
    scaled(kappa, 1, prepared(3, i));
    transform<A>(
        prepared(4, i), size_, [](B x, B y) { return x * y; }, kappa, a);
  }

  double length_factor(const float* x) const noexcept {
    if (op_.eps == 0) return 1;
    return 1 / std::sqrt(sum_in_double(x, size_, [](double v) { return v * v; }) + double{op_.eps});
  }

  void prepare_delta(std::int64_t t, int i) const noexcept {
    const float *q = input(0, t), *k = input(1, t), *gate = input(2, t);
    scaled(q, length_factor(q) / std::sqrt(static_cast<double>(size_)), prepared(0, i));
    scaled(k, length_factor(k), prepared(1, i));
    const std::int64_t gates = columns(*piece_.input(2));
    const bool rated = piece_.numbers(4);
    const B rate(rated ? piece_.numbers(4)[piece_.number] : 0.0f);
    const float* bias = piece_.numbers(5) ? piece_.numbers(5) + piece_.number * gates : nullptr;
    const auto factor = [rated, rate](B v) { return math::exp(rated ? rate * math::softplus(v) : v); };
    if (gates == 1) {
      const B shared = factor(B(*gate + (bias ? *bias : 0.0f)));
      transform<A>(
          prepared(2, i), size_, [=](B) { return shared; }, prepared(0, i));
    } else if (bias) {
      transform<A>(
          prepared(2, i), size_, [=](B v, B b) { return factor(v + b); }, gate, bias);
    } else {
      transform<A>(prepared(2, i), size_, factor, gate);
    }
    transform<A>(
        prepared(3, i), 1, [](B v) { return math::sigmoid(v); }, input(3, t));
  }

  // Vector v of a strip of a row that has `left` numbers from the strip's begin on.
  static B take(const float* x, int v, std::int64_t left) noexcept {
    return load_some<A>(x + v * lanes, left - v * lanes);
  }
  static void put(const B& x, float* y, int v, std::int64_t left) noexcept {
    store_some<A>(x, y + v * lanes, left - v * lanes);
  }

  // S = e^g S;  d = beta (v - S'k);  S += k d';  y = S'q
  void delta_strip(std::int64_t first, int tokens, std::int64_t j) const noexcept {
    const std::int64_t left = width_ - j;
    for (int i = 0; i < tokens; ++i) {
      const float *q = prepared(0, i), *k = prepared(1, i), *decay = prepared(2, i);
      const B beta(*prepared(3, i));
      B known[vectors], sum[vectors], delta[vectors];
      unroll<vectors>([&](auto v) { known[v] = sum[v] = B(0.0f); });
      float* state = state_ + j;
      for (std::int64_t c = 0; c < size_; ++c, state += width_) {
        unroll<vectors>([&](auto v) {
          const B s = take(state, v, left) * B(decay[c]);
          put(s, state, v, left);
          known[v] = fused(s, B(k[c]), known[v]);
        });
      }
      const float* value = row_address(*op_.x, row(first + i)) + j;
      unroll<vectors>([&](auto v) { delta[v] = beta * (take(value, v, left) - known[v]); });
      state = state_ + j;
      for (std::int64_t c = 0; c < size_; ++c, state += width_) {
        unroll<vectors>([&](auto v) {
          const B s = fused(B(k[c]), delta[v], take(state, v, left));
          put(s, state, v, left);
          sum[v] = fused(s, B(q[c]), sum[v]);
        });
      }
      float* y = row_address(*op_.y, row(first + i)) + j;
      unroll<vectors>([&](auto v) { put(sum[v], y, v, left); });
    }
  }

  // S = w S + k v' and y = S'r; RWKV-6 reads before it writes, with the newest token weighted by u.
  void linear_strip(std::int64_t first, int tokens, std::int64_t j) const noexcept {
    const std::int64_t left = width_ - j;
    const bool rwkv6 = op_.kind == INLAY_SCAN_RWKV6;
    const float* bonus = rwkv6 ? row_address(*piece_.input(3), piece_.number) : nullptr;
    for (int i = 0; i < tokens; ++i) {
      const float *r = prepared(0, i), *k = prepared(1, i), *decay = prepared(2, i);
      const float* x = row_address(*op_.x, row(first + i)) + j;
      B value[vectors], sum[vectors];
      unroll<vectors>([&](auto v) { value[v] = take(x, v, left), sum[v] = B(0.0f); });
      float* state = state_ + j;
      for (std::int64_t c = 0; c < size_; ++c, state += width_) {
        unroll<vectors>([&](auto v) {
          const B old = take(state, v, left), added = B(k[c]) * value[v];
          const B s = fused(old, B(decay[c]), added);
          put(s, state, v, left);
          sum[v] = fused(B(r[c]), rwkv6 ? fused(B(bonus[c]), added, old) : s, sum[v]);
        });
      }
      float* y = row_address(*op_.y, row(first + i)) + j;
      unroll<vectors>([&](auto v) { put(sum[v], y, v, left); });
    }
  }

  // Row i of S, of one value: S = w S + v k - (S kappa) kappa a;  y = S r
  void rwkv7_row(std::int64_t first, int tokens, std::int64_t i) const noexcept {
    float* state = state_ + i * size_;
    for (int n = 0; n < tokens; ++n) {
      const float *r = prepared(0, n), *k = prepared(1, n), *decay = prepared(2, n), *kappa = prepared(3, n),
                  *away = prepared(4, n);
      const B value(row_address(*op_.x, row(first + n))[i]);
      B known(0.0f), sum(0.0f);
      for (std::int64_t j = 0; j < size_; j += lanes) {
        known = fused(load_some<A>(state + j, size_ - j), load_some<A>(kappa + j, size_ - j), known);
      }
      const B all_known(sum_of_lanes<A>(known));
      for (std::int64_t j = 0; j < size_; j += lanes) {
        const std::int64_t left = size_ - j;
        const B kept = load_some<A>(state + j, left) * load_some<A>(decay + j, left);
        const B s = fused(value, load_some<A>(k + j, left), kept) - all_known * load_some<A>(away + j, left);
        store_some<A>(s, state + j, left);
        sum = fused(s, load_some<A>(r + j, left), sum);
      }
      row_address(*op_.y, row(first + n))[i] = sum_of_lanes<A>(sum);
    }
  }

  const ScanPiece& piece_;
  const inlay_scan_op& op_;
  std::int64_t size_, width_;
  float* state_;
};

template <class A>
void scan_heads(const Chunk& chunk) noexcept {
  const ScanPiece piece(*static_cast<const ScanTask*>(chunk.task), chunk);
  HeadScan<A> scan(piece);
  scan();
}

}  // namespace
}  // namespace inlay::cpu
