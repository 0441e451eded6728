// Proves that activations on every instruction set are as exact as floats allow, against the C library's doubles.
#include <cmath>

#include "tests/backends/harness.hpp"

using namespace backends;

namespace {

// y = act(x) for many values at once.
Floats activate(const Candidate& candidate, inlay_act act, const Floats& x) {
  Device device(candidate, 1);
  Batch batch({1});
  const auto shape = Shape{1, static_cast<std::int64_t>(x.size())};
  const inlay_tensor in = device.numbers(shape, x), out = device.empty(shape);
  device.run(
      batch,
      inlay_glu_op{
          .size = sizeof(inlay_glu_op), .act = act, .y = &out, .gate = &in, .up = nullptr, .alpha = 0, .limit = 0});
  return device.read(out);
}

// Every 4,099th float from -high to high, both signs of each magnitude.
Floats sweep(float high) {
  Floats values;
  for (std::uint32_t bits = 0; bits < 0x7F800000u; bits += 4099) {
    float value;
    std::memcpy(&value, &bits, sizeof value);
    if (value > high) break;
    values.push_back(value);
    values.push_back(-value);
  }
  return values;
}

// The largest error in units of the last place of the true value, where that is a normal number.
double worst_error(const Candidate& candidate, inlay_act act, double (*truth)(double), float high = 80) {
  const Floats x = sweep(high), y = activate(candidate, act, x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double expected = truth(x[i]);
    if (std::abs(expected) < tiny) continue;
    int exponent;
    std::frexp(expected, &exponent);
    worst = std::max(worst, std::abs(y[i] - expected) / std::ldexp(1.0, exponent - 24));
  }
  return worst;
}

}  // namespace

TEST_CASE("sigmoid, tanh and softplus are within a few units of the last place") {
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    CHECK(worst_error(candidate, INLAY_ACT_SIGMOID, [](double x) { return 1 / (1 + std::exp(-x)); }) <= 2);
    CHECK(worst_error(
              candidate, INLAY_ACT_TANH, [](double x) { return std::tanh(x); }, 3e38f) <= 2);
    CHECK(worst_error(candidate, INLAY_ACT_SOFTPLUS, [](double x) { return std::log1p(std::exp(x)); }) <= 3);
    CHECK(worst_error(candidate, INLAY_ACT_SILU, [](double x) { return x / (1 + std::exp(-x)); }) <= 3);
  }
}

TEST_CASE("the exact GELU is within the rounding of its sum") {
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    const Floats x = sweep(30), y = activate(candidate, INLAY_ACT_GELU, x);
    check_within(
        y,
        [&] {
          Floats expected;
          for (const float v : x) expected.push_back(static_cast<float>(0.5 * v * std::erfc(-v / std::sqrt(2.0))));
          return expected;
        }(),
        [&](std::size_t i) { return 2 * epsilon * std::abs(x[i]); });
  }
}

TEST_CASE("activations of what is no number or infinite say so") {
  const float infinity = std::numeric_limits<float>::infinity();
  for (const Candidate& candidate : candidates()) {
    INFO(candidate.isa);
    const Floats x = {infinity, -infinity, std::numeric_limits<float>::quiet_NaN()};
    const Floats sigmoid = activate(candidate, INLAY_ACT_SIGMOID, x), tanh = activate(candidate, INLAY_ACT_TANH, x);
    CHECK(sigmoid[0] == 1);
    CHECK(sigmoid[1] == 0);
    CHECK(std::isnan(sigmoid[2]));
    CHECK(tanh[0] == 1);
    CHECK(tanh[1] == -1);
    CHECK(std::isnan(tanh[2]));
  }
}
