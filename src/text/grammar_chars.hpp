// Sets of Unicode characters, and how they are spelled in bytes.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace inlay::text {

struct CharRange {
  char32_t first = 0, last = 0;
  friend bool operator==(const CharRange&, const CharRange&) = default;
};

// Scalar values as sorted ranges that neither overlap nor touch. Surrogates never belong to a set.
class CharSet {
 public:
  CharSet() = default;
  CharSet(char32_t first, char32_t last) { add(first, last); }
  explicit CharSet(char32_t only) { add(only, only); }
  static CharSet any() { return CharSet(0, 0x10FFFF); }

  void add(char32_t first, char32_t last);
  void add(const CharSet& other);
  CharSet complement() const;
  CharSet intersect(const CharSet& other) const;
  CharSet without(const CharSet& other) const { return intersect(other.complement()); }

  bool contains(char32_t code) const;
  bool empty() const { return ranges_.empty(); }
  const std::vector<CharRange>& ranges() const { return ranges_; }

 private:
  void add_scalars(char32_t first, char32_t last);
  std::vector<CharRange> ranges_;
};

// The characters of a Unicode property such as "L" or "Script=Greek"; empty where there is no such property.
CharSet property_characters(std::string_view name);

// The value of a hexadecimal digit.
constexpr std::optional<std::uint32_t> hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// A range of numbers split so that digits (in the base 2^bits) vary independently: each piece is one range per digit.
struct DigitRanges {
  std::uint16_t first[4], last[4];
};
std::vector<DigitRanges> split_digits(std::uint32_t first, std::uint32_t last, int digits, int bits);

}  // namespace inlay::text
