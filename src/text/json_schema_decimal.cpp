// Decimal numbers of any length, exact.
#include "text/json_schema_decimal.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/checked.hpp"

namespace inlay::text {
namespace {

constexpr int largest_exponent = 100'000;

std::strong_ordering compare_magnitudes(const std::string& a, int a_end, const std::string& b, int b_end) {
  // The place of the first digit decides, then the digits.
  const auto a_begin = static_cast<std::int64_t>(a.size()) + a_end,
             b_begin = static_cast<std::int64_t>(b.size()) + b_end;
  if (a.empty() || b.empty()) return b.empty() <=> a.empty();
  if (a_begin != b_begin) return a_begin <=> b_begin;
  return a.compare(b) <=> 0;
}

}  // namespace

std::optional<Decimal> Decimal::parse(std::string_view number) {
  Decimal out;
  out.negative_ = number.starts_with('-');
  if (out.negative_) number.remove_prefix(1);
  const std::size_t mark = std::min(number.find_first_of("eE"), number.size());
  bool fraction = false;
  for (const char c : number.substr(0, mark)) {
    if (c == '.') {
      fraction = true;
      continue;
    }
    out.digits_ += c;
    out.exponent_ -= fraction;
  }
  if (mark < number.size()) {
    std::string_view power = number.substr(mark + 1);
    const bool minus = power.starts_with('-');
    if (minus || power.starts_with('+')) power.remove_prefix(1);
    int value = 0;
    for (const char c : power) {
      value = value * 10 + (c - '0');
      if (value > largest_exponent) return std::nullopt;
    }
    out.exponent_ += minus ? -value : value;
  }
  out.normalise();
  return out;
}

void Decimal::normalise() {
  digits_.erase(0, std::min(digits_.find_first_not_of('0'), digits_.size()));
  while (!digits_.empty() && digits_.back() == '0') digits_.pop_back(), ++exponent_;
  if (digits_.empty()) negative_ = false, exponent_ = 0;
}

Decimal Decimal::negated() const {
  Decimal out = *this;
  out.negative_ = !negative_ && !zero();
  return out;
}

Decimal Decimal::floor() const {
  if (whole()) return *this;
  Decimal out = *this;
  out.digits_ = whole_digits();
  out.exponent_ = 0;
  if (negative_) {  // away from zero
    auto digit = out.digits_.rbegin();
    for (; digit != out.digits_.rend() && *digit == '9'; ++digit) *digit = '0';
    if (digit == out.digits_.rend()) {
      out.digits_.insert(0, "1");
    } else {
      ++*digit;
    }
  }
  out.normalise();
  return out;
}

std::string Decimal::whole_digits() const {
  const auto size = static_cast<std::int64_t>(digits_.size()) + exponent_;
  if (size <= 0) return "0";
  std::string out = digits_.substr(0, static_cast<std::size_t>(size));
  return out.append(static_cast<std::size_t>(size) - out.size(), '0');
}

std::string Decimal::fraction_digits() const {
  const auto size = static_cast<std::int64_t>(digits_.size()) + exponent_;
  if (exponent_ >= 0) return {};
  if (size >= 0) return digits_.substr(static_cast<std::size_t>(size));
  return std::string(static_cast<std::size_t>(-size), '0') + digits_;
}

std::size_t Decimal::plain_size() const { return digits_.size() + static_cast<std::size_t>(std::abs(exponent_)) + 2; }

std::string Decimal::plain() const {
  const std::string fraction = fraction_digits();
  return (negative_ ? "-" : "") + whole_digits() + (fraction.empty() ? "" : "." + fraction);
}

std::optional<std::uint64_t> Decimal::scaled(int decimals) const {
  const int zeros = exponent_ + decimals;
  if (zero()) return 0;
  if (zeros < 0 || digits_.size() + static_cast<std::size_t>(zeros) > 18) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : digits_) value = value * 10 + static_cast<std::uint64_t>(c - '0');
  for (int i = 0; i < zeros; ++i) value *= 10;
  return value;
}

std::strong_ordering operator<=>(const Decimal& a, const Decimal& b) {
  if (a.negative_ != b.negative_) return b.negative_ <=> a.negative_;
  const auto order = compare_magnitudes(a.digits_, a.exponent_, b.digits_, b.exponent_);
  return a.negative_ ? 0 <=> order : order;
}

}  // namespace inlay::text
