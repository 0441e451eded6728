// The searches: many roundings are tried, and least squares says which scale suits each.
#include "gguf/fit.hpp"

#include <algorithm>
#include <array>

#include "gguf/blocks.hpp"

namespace inlay::inline v0::gguf {
namespace {

// What codes say about the scale: with weights w = value^2, the sums of w * value * code and of w * code^2.
struct Moments {
  float product = 0, square = 0;

  void add(float value, int code, float sign = 1) {
    const float weight = sign * value * value;
    product += weight * value * static_cast<float>(code);
    square += weight * static_cast<float>(code * code);
  }
  float scale() const { return square > 0 ? product / square : 0; }
  // How much of the error the best scale removes is product^2 / square.
  bool better_than(const Moments& other) const {
    return square > 0 && product * product * other.square > other.product * other.product * square;
  }
};

Moments moments_at(const float* values, int count, int limit, float inverse_scale) {
  Moments moments;
  for (int i = 0; i < count; ++i) moments.add(values[i], round_to(values[i] * inverse_scale, -limit, limit - 1));
  return moments;
}

// The scale and minimum that suit the codes best, by weighted least squares.
Fit least_squares(const float* values, const float* weights, const int* codes, int count) {
  float weight_sum = 0, codes_sum = 0, squares_sum = 0, values_sum = 0, products_sum = 0;
  for (int i = 0; i < count; ++i) {
    const float code = static_cast<float>(codes[i]);
    weight_sum += weights[i];
    codes_sum += weights[i] * code;
    squares_sum += weights[i] * code * code;
    values_sum += weights[i] * values[i];
    products_sum += weights[i] * values[i] * code;
  }
  const float determinant = weight_sum * squares_sum - codes_sum * codes_sum;
  if (!(determinant > 0)) return {};
  const float offset = (squares_sum * values_sum - codes_sum * products_sum) / determinant;
  if (offset > 0) return {products_sum / squares_sum, 0};
  return {(weight_sum * products_sum - values_sum * codes_sum) / determinant, -offset};
}

float error_of(const Fit& fit, const float* values, const float* weights, const int* codes, int count, bool absolute) {
  float sum = 0;
  for (int i = 0; i < count; ++i) {
    const float difference = fit.scale * static_cast<float>(codes[i]) - fit.minimum - values[i];
    sum += weights[i] * (absolute ? std::fabs(difference) : difference * difference);
  }
  return sum;
}

}  // namespace

int nearest_entry(const std::int8_t (&table)[16], float value) noexcept {
  int best = 0;
  for (int i = 1; i < 16; ++i) {
    if (std::fabs(value - table[i]) < std::fabs(value - table[best])) best = i;
  }
  return best;
}

// Tries scales that put the farthest value at or near the ends of the table; each time the entries chosen give, by
// least squares, the scale that suits them best.
float fit_nonlinear(const float* values) noexcept {
  const float peak = farthest(values, 32);
  if (std::fabs(peak) < 1e-15f) return 0;
  float best_scale = 0, best_gain = 0;
  const auto try_inverse = [&](float inverse_scale) {
    float product = 0, square = 0;
    for (int i = 0; i < 32; ++i) {
      const float entry = nonlinear_values[nearest_entry(nonlinear_values, values[i] * inverse_scale)];
      const float weight = values[i] * values[i];
      product += weight * entry * values[i];
      square += weight * entry * entry;
    }
    if (!(square > 0 && product * product > best_gain * square)) return;
    best_scale = product / square;
    best_gain = product * best_scale;
  };
  try_inverse(-nonlinear_values[0] / peak);
  for (int step = -7; step <= 7; ++step) try_inverse(static_cast<float>(step + nonlinear_values[0]) / peak);
  return best_scale;
}

float search_scale(const float* values, int limit) noexcept {
  const float peak = farthest(values, 16);
  if (std::fabs(peak) < 1e-15f) return 0;
  Moments best = moments_at(values, 16, limit, static_cast<float>(-limit) / peak);
  for (int step = -9; step <= 9; ++step) {
    const float inverse_scale = -(static_cast<float>(limit) + 0.1f * static_cast<float>(step)) / peak;
    const Moments moments = moments_at(values, 16, limit, inverse_scale);
    if (moments.better_than(best)) best = moments;
  }
  return best.scale();
}

float descend_to_scale(const float* values, int limit) noexcept {
  const float peak = farthest(values, 16);
  if (std::fabs(peak) < 1e-15f) return 0;
  std::array<int, 16> codes;
  Moments moments;
  for (int i = 0; i < 16; ++i) {
    codes[i] = round_to(values[i] * static_cast<float>(-limit) / peak, -limit, limit - 1);
    moments.add(values[i], codes[i]);
  }
  bool changed = true;
  for (int pass = 0; pass < 5 && changed; ++pass) {
    changed = false;
    for (int i = 0; i < 16; ++i) {
      Moments others = moments;
      others.add(values[i], codes[i], -1);
      if (!(others.product > 0)) continue;
      const int code = round_to(values[i] * others.square / others.product, -limit, limit - 1);
      others.add(values[i], code);
      if (code == codes[i] || !others.better_than(moments)) continue;
      codes[i] = code;
      moments = others;
      changed = true;
    }
  }
  return moments.scale();
}

Fit search_fit(const float* values, const float* weights, int count, const Search& search) noexcept {
  const auto [least, greatest] = std::minmax_element(values, values + count);
  const float floor = std::min(0.0f, *least), top = *greatest;
  if (!(top > floor)) return {0, -floor};
  std::array<int, 32> codes;
  const auto choose_codes = [&](float inverse_scale, float minimum) {
    for (int i = 0; i < count; ++i) codes[i] = round_to(inverse_scale * (values[i] + minimum), 0, search.limit);
  };
  Fit best{(top - floor) / static_cast<float>(search.limit), -floor};
  choose_codes(1 / best.scale, best.minimum);
  float least_error = error_of(best, values, weights, codes.data(), count, search.absolute);
  for (int i = 0; i <= search.steps; ++i) {
    const float levels = search.first + search.step * static_cast<float>(i) + static_cast<float>(search.limit);
    choose_codes(levels / (top + best.minimum), best.minimum);
    const Fit fit = least_squares(values, weights, codes.data(), count);
    const float error = error_of(fit, values, weights, codes.data(), count, search.absolute);
    if (fit.scale > 0 && error < least_error) {
      least_error = error;
      best = fit;
    }
  }
  return best;
}

}  // namespace inlay::inline v0::gguf
