// Searches for the scales with which small integer codes describe a few floats best.
#pragma once

#include <cmath>
#include <cstdint>

namespace inlay::inline v0::gguf {

// To the nearest integer, ties to even, within [low, high]; NaN becomes `low`.
inline int round_to(float value, int low, int high) noexcept {
  if (!(value > static_cast<float>(low))) return low;
  if (value >= static_cast<float>(high)) return high;
  return static_cast<int>(std::lrint(value));
}

// The value, with its sign, that is farthest from zero; the first of several.
inline float farthest(const float* values, int count) noexcept {
  float found = 0;
  for (int i = 0; i < count; ++i) {
    if (std::fabs(values[i]) > std::fabs(found)) found = values[i];
  }
  return found;
}

inline float inverse(float value) noexcept { return value != 0 ? 1 / value : 0; }

// ---- value = scale * entry of a table

// The index of the entry that is nearest to `value`; the lower of two.
int nearest_entry(const std::int8_t (&table)[16], float value) noexcept;

// The scale for 32 values and the table nonlinear_values.
float fit_nonlinear(const float* values) noexcept;

// ---- value = scale * code, 16 values, code from -limit to limit - 1; errors count by the square of the value

// The scale of the best of 19 roundings.
float search_scale(const float* values, int limit) noexcept;

// The scale after improving one code at a time.
float descend_to_scale(const float* values, int limit) noexcept;

// ---- value = scale * code - minimum, up to 32 values, code from 0 to limit, minimum not negative

struct Fit {
  float scale = 0, minimum = 0;
};

struct Search {
  int limit;
  float first, step;  // the first rounding tried, and the distance to each of the next `steps`
  int steps;
  bool absolute;  // errors count by size, else by square
};

Fit search_fit(const float* values, const float* weights, int count, const Search& search) noexcept;

}  // namespace inlay::inline v0::gguf
