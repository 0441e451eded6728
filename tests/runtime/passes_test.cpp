// Passes over rows of logits: every instruction set against the plain sum and maximum, at lengths that fill no vector.
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "cpu/cpu.hpp"
#include "runtime/sampling_candidates.hpp"
#include "tests/support/catch.hpp"

using inlay::runtime::RowPasses;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

std::vector<RowPasses> all_passes() {
  std::vector<RowPasses> all{inlay::runtime::plain_passes};
  for (int i = 0; const auto* kernels = inlay::cpu::row_kernels(i); ++i)
    all.push_back({kernels->maxima, kernels->mass});
  return all;
}

std::vector<float> row_of(std::size_t size, float spread) {
  std::mt19937 random(static_cast<unsigned>(size));
  std::normal_distribution<float> normal(0, spread);
  std::vector<float> row(size);
  for (auto& x : row) x = normal(random);
  return row;
}

}  // namespace

TEST_CASE("passes over logits give the largest of each stretch and the sum of their exponentials") {
  REQUIRE(all_passes().size() > 1);
  for (const auto& passes : all_passes()) {
    for (const std::size_t size : {1, 15, 64, 65, 200, 4096, 4111, 40000}) {
      for (const float spread : {0.01f, 3.0f, 60.0f}) {
        CAPTURE(size, spread);
        auto row = row_of(size, spread);
        if (size > 20) row[17] = -infinity;
        std::vector<float> most((size + 63) / 64, 7);
        REQUIRE(passes.maxima(row.data(), std::int64_t(size), most.data()));
        for (std::size_t i = 0; i < most.size(); ++i)
          CHECK(most[i] == *std::max_element(row.begin() + std::ptrdiff_t(i * 64),
                                             row.begin() + std::ptrdiff_t(std::min(size, i * 64 + 64))));
        const float top = *std::max_element(row.begin(), row.end());
        double sum = 0;
        for (const float x : row) sum += std::exp(double(x) - double(top));
        // An exponential is off by 4e-6 at most, and the average of 512 sums of f32 by less than that.
        CHECK(passes.mass(row.data(), std::int64_t(size), top) == Approx(sum).epsilon(1e-5));
      }
    }
  }
}

TEST_CASE("passes over logits notice what is not a number, and infinity") {
  for (const auto& passes : all_passes()) {
    for (const float bad : {std::nanf(""), -std::nanf(""), infinity}) {
      for (const std::size_t at : {0, 40, 63, 64, 130}) {
        auto row = row_of(131, 1);
        std::vector<float> most(3);
        REQUIRE(passes.maxima(row.data(), 131, most.data()));
        row[at] = bad;
        CHECK_FALSE(passes.maxima(row.data(), 131, most.data()));
      }
    }
  }
}
