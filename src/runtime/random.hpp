// Random numbers and the exponential, written out so that every compiler and platform computes the same bits.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace inlay::runtime {

// xoshiro256++ (Blackman and Vigna 2019), seeded by splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) {
      seed += 0x9e3779b97f4a7c15;
      auto z = seed;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
      z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t next() {
    const auto result = std::rotl(state_[0] + state_[3], 23) + state_[0];
    const auto t = state_[1] << 17;
    state_[2] ^= state_[0], state_[3] ^= state_[1], state_[1] ^= state_[2], state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  double uniform() { return double(next() >> 11) * 0x1p-53; }  // [0, 1)

 private:
  std::uint64_t state_[4];
};

// e^x for x <= 0 (0 below -700) with an error under 1e-15: x = n ln 2 + r, and a Taylor polynomial in r.
inline double exponential(double x) {
  if (!(x > -700)) return 0;
  const double n = std::floor(x * 1.4426950408889634 + 0.5);
  const double r = (x - n * 0.693147180369123816490) - n * 1.90821492927058770002e-10;
  double sum = 1;
  for (int k = 13; k > 0; --k) sum = 1 + sum * r / k;
  return sum * std::bit_cast<double>((std::uint64_t(std::int64_t(n) + 1023)) << 52);
}

}  // namespace inlay::runtime
