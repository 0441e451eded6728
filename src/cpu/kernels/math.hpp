// The functions that activations and softmax need, for a whole vector of floats: at most 2 ulp from the true value
// wherever the result is a normal number. The polynomials were fitted for this file (minimax, long double).
#pragma once

#include <cstdint>

#include "cpu/simd/isa.hpp"

namespace inlay::cpu {
namespace {
namespace math {

// c[0] + c[1] x + c[2] x^2 + ...
template <class B, int N>
inline B polynomial(B x, const float (&c)[N]) noexcept {
  B sum(c[N - 1]);
  for (int i = N - 2; i >= 0; --i) sum = fused(sum, x, B(c[i]));
  return sum;
}

// e^r for |r| <= ln 2 / 2
template <class B>
inline B exp_near_zero(B r) noexcept {
  static constexpr float c[] = {1.0f,           1.0f,           0x1.fffffcp-2f, 0x1.55549p-3f,
                                0x1.5558f4p-5f, 0x1.123a6cp-7f, 0x1.6a234ep-10f};
  return polynomial(r, c);
}

// x without n ln 2, in two steps of which the first is exact.
template <class B>
inline B without(B x, B n) noexcept {
  return fused(n, B(2.12194440e-4f), fused(n, B(-0.693359375f), x));
}

template <class B>
inline B exp(B x) noexcept {
  using Integers = xsimd::batch<std::int32_t, typename B::arch_type>;
  x = xsimd::min(B(89.0f), xsimd::max(B(-104.0f), x));  // x second: NaN stays
  const B shift(0x1.8p23f);                             // a sum with it has the nearest whole number in its lowest bits
  const B sum = fused(x, B(1.44269504f), shift);
  const Integers n = xsimd::bitwise_cast<Integers>(sum) - Integers(0x4B400000);
  const auto power_of_two = [](Integers e) { return xsimd::bitwise_cast<B>((e + Integers(127)) << 23); };
  const Integers half = n >> 1;  // in two steps, for the largest and for denormal results
  return exp_near_zero(without(x, sum - shift)) * power_of_two(half) * power_of_two(n - half);
}

// For x <= 0, and 0 where the result would be below 2^-125: what softmax needs.
template <class B>
inline B exp_of_negative(B x) noexcept {
  using Integers = xsimd::batch<std::int32_t, typename B::arch_type>;
  const B lowest(-87.0f), shift(0x1.8p23f + 127.0f);  // the sum's lowest bits are a float's exponent
  const B inside = xsimd::max(lowest, x);
  const B sum = fused(inside, B(1.44269504f), shift);
  const B power_of_two = xsimd::bitwise_cast<B>(xsimd::bitwise_cast<Integers>(sum) << 23);
  const B result = exp_near_zero(without(inside, sum - shift)) * power_of_two;
  return xsimd::select(x < lowest, B(0.0f), result);
}

template <class B>
inline B sigmoid(B x) noexcept {
  return quotient(B(1.0f), B(1.0f) + exp(-x));
}

template <class B>
inline B tanh(B x) noexcept {
  static constexpr float p[] = {-0x1.555532p-2f, 0x1.110726p-3f, -0x1.b83c58p-5f, 0x1.522692p-6f, -0x1.75e1a8p-8f};
  const B square = x * x;
  const B near = fused(x * square, polynomial(square, p), x);
  const B size = xsimd::abs(x);
  const B far = B(1.0f) - quotient(B(2.0f), exp(size + size) + B(1.0f));
  return xsimd::select(size < B(0.625f), near, xsimd::copysign(far, x));
}

template <class B>
inline B erf(B x) noexcept {
  static constexpr float p[] = {0x1.06eba6p-3f,  -0x1.8126dcp-2f, 0x1.ce1904p-4f,
                                -0x1.b676cap-6f, 0x1.46c232p-8f,  -0x1.3825bcp-11f};
  const B square = x * x;
  const B near = fused(x, polynomial(square, p), x);
  // ln(1 - erf t) from 0.92 to 4, beyond which erf rounds to 1
  static constexpr float q[] = {-0x1.b220d6p-13f, -0x1.20ac3p+0f,  -0x1.4647b2p-1f, -0x1.a9654ep-4f,
                                0x1.6b8eacp-6f,   -0x1.8da1d4p-9f, 0x1.98d54p-13f};
  const B size = xsimd::abs(x);
  const B far = B(1.0f) - exp_of_negative(polynomial(xsimd::min(B(4.0f), size), q));
  return xsimd::select(size < B(0.92f), near, xsimd::copysign(far, x));
}

// ln(1 + e^x)
template <class B>
inline B softplus(B x) noexcept {
  static constexpr float p[] = {0x1.555502p-2f, 0x1.99d208p-3f, 0x1.1ebd0cp-3f, 0x1.1ed7c2p-3f};
  const B t = exp(-xsimd::abs(x));
  const B s = quotient(t, B(2.0f) + t);  // ln(1 + t) = 2 artanh s
  const B square = s * s;
  const B log = fused(s * square, polynomial(square, p), s);
  return xsimd::max(B(0.0f), x) + (log + log);
}

}  // namespace math
}  // namespace
}  // namespace inlay::cpu
