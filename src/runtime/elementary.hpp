// Exponential, logarithm and power in plain IEEE double arithmetic, so that every platform computes the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace inlay::runtime {

inline constexpr double ln2_high = 0.693147180369123816490, ln2_low = 1.90821492927058770002e-10;  // their sum is ln 2

// e^x with a relative error under 1e-15: x = n ln 2 + r, and a Taylor polynomial in r. 0 below -700, infinity above
// 709.
inline double exponential(double x) {
  constexpr double inverse_factorial[] = {
      1.0,        1.0,         1.0 / 2,      1.0 / 6,       1.0 / 24,       1.0 / 120,       1.0 / 720,
      1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800, 1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800};
  if (!(x > -700)) return 0;
  if (x > 709) return std::numeric_limits<double>::infinity();
  const double n = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - n * ln2_high) - n * ln2_low;
  double sum = inverse_factorial[13];
  for (int k = 12; k >= 0; --k) sum = inverse_factorial[k] + sum * r;
  return sum * std::bit_cast<double>((std::uint64_t(std::int64_t(n) + 1023)) << 52);
}

// ln x for x >= 0 with a relative error under 1e-15: x = m 2^n with m near 1, and ln m = 2 artanh((m - 1) / (m + 1)).
inline double logarithm(double x) {
  if (x == 0) return -std::numeric_limits<double>::infinity();
  double n = 0;
  if (x < 0x1p-1022) x *= 0x1p54, n = -54;
  const auto bits = std::bit_cast<std::uint64_t>(x);
  double m = std::bit_cast<double>((bits & 0x000fffffffffffff) | 0x3ff0000000000000);
  n += double(std::int64_t(bits >> 52) - 1023);
  if (m > 1.4142135623730951) m *= 0.5, n += 1;
  const double s = (m - 1) / (m + 1), square = s * s;
  double sum = 0;
  for (int k = 23; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return n * ln2_high + (2 * s * sum + n * ln2_low);
}

// base^exponent for base > 0.
inline double power(double base, double exponent) { return exponential(exponent * logarithm(base)); }

}  // namespace inlay::runtime
