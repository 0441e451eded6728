// Random numbers, written out so that every platform draws the same ones.
#pragma once

#include <bit>
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

}  // namespace inlay::runtime
