// Decimal numbers of any length, exact, as schemas write them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace inlay::text {

// digits * 10^exponent. Without leading or trailing zeros; zero has no digits.
class Decimal {
 public:
  Decimal() = default;
  explicit Decimal(std::int64_t value) : Decimal(*parse(std::to_string(value))) {}

  // A JSON number; nothing where its exponent is beyond all use.
  static std::optional<Decimal> parse(std::string_view number);

  bool zero() const { return digits_.empty(); }
  bool negative() const { return negative_; }
  bool whole() const { return exponent_ >= 0 || zero(); }
  int decimals() const { return zero() || exponent_ >= 0 ? 0 : -exponent_; }
  Decimal negated() const;
  Decimal floor() const;
  Decimal ceiling() const { return negated().floor().negated(); }

  std::string whole_digits() const;     // of the magnitude, before the point: "0" for less than one
  std::string fraction_digits() const;  // after the point, none at the end zero
  std::string plain() const;            // without an exponent
  std::size_t plain_size() const;       // about, without writing it

  // The magnitude times 10^decimals where that is a whole number below 2^63.
  std::optional<std::uint64_t> scaled(int decimals) const;

  friend std::strong_ordering operator<=>(const Decimal& a, const Decimal& b);
  friend bool operator==(const Decimal&, const Decimal&) = default;

 private:
  void normalise();
  bool negative_ = false;
  std::string digits_;
  int exponent_ = 0;
};

}  // namespace inlay::text
