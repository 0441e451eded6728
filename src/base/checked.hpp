// Arithmetic on numbers that come from files: a result, or nothing where it would not fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace inlay::base {

inline std::optional<std::uint64_t> checked_add(std::uint64_t a, std::uint64_t b) {
  if (b > std::numeric_limits<std::uint64_t>::max() - a) return std::nullopt;
  return a + b;
}

inline std::optional<std::uint64_t> checked_multiply(std::uint64_t a, std::uint64_t b) {
  if (a != 0 && b > std::numeric_limits<std::uint64_t>::max() / a) return std::nullopt;
  return a * b;
}

// Rounds up to a multiple of `alignment`, which is a power of two.
inline std::optional<std::uint64_t> checked_align(std::uint64_t value, std::uint64_t alignment) {
  const auto padded = checked_add(value, alignment - 1);
  if (!padded) return std::nullopt;
  return *padded & ~(alignment - 1);
}

}  // namespace inlay::base
