// Sets of Unicode characters, and how they are spelled in bytes.
#include "text/grammar_chars.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "base/utf8.hpp"
#include "inlay/error.hpp"
#include "text/pattern.hpp"

namespace inlay::text {
namespace {

constexpr char32_t first_surrogate = 0xD800, last_surrogate = 0xDFFF, last_code = 0x10FFFF;

bool is_property_name(std::string_view name) {
  return !name.empty() && name.size() < 64 && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

// ECMAScript's long names of the general categories, which PCRE2 knows by their short names only.
std::string_view short_category(std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> names[] = {{"Letter", "L"},
                                                                            {"Uppercase_Letter", "Lu"},
                                                                            {"Lowercase_Letter", "Ll"},
                                                                            {"Titlecase_Letter", "Lt"},
                                                                            {"Modifier_Letter", "Lm"},
                                                                            {"Other_Letter", "Lo"},
                                                                            {"Mark", "M"},
                                                                            {"Combining_Mark", "M"},
                                                                            {"Number", "N"},
                                                                            {"Decimal_Number", "Nd"},
                                                                            {"digit", "Nd"},
                                                                            {"Letter_Number", "Nl"},
                                                                            {"Other_Number", "No"},
                                                                            {"Punctuation", "P"},
                                                                            {"punct", "P"},
                                                                            {"Symbol", "S"},
                                                                            {"Separator", "Z"},
                                                                            {"Space_Separator", "Zs"},
                                                                            {"Other", "C"},
                                                                            {"Control", "Cc"},
                                                                            {"cntrl", "Cc"},
                                                                            {"Format", "Cf"},
                                                                            {"Currency_Symbol", "Sc"},
                                                                            {"Math_Symbol", "Sm"},
                                                                            {"Dash_Punctuation", "Pd"}};
  for (const auto& [full, brief] : names) {
    if (full == name) return brief;
  }
  return name;
}

std::string all_characters() {
  std::string text;
  for (char32_t code = 0; code <= last_code; ++code) {
    if (code < first_surrogate || code > last_surrogate) base::append_utf8(code, text);
  }
  return text;
}

}  // namespace

void CharSet::add(char32_t first, char32_t last) {
  if (first < first_surrogate) add_scalars(first, std::min<char32_t>(last, first_surrogate - 1));
  if (last > last_surrogate) add_scalars(std::max<char32_t>(first, last_surrogate + 1), std::min(last, last_code));
}

void CharSet::add_scalars(char32_t first, char32_t last) {
  if (first > last) return;
  // The ranges that touch the new one become part of it.
  auto begin = std::ranges::find_if(ranges_, [&](CharRange r) { return r.last + 1 >= first; });
  auto end = std::find_if(begin, ranges_.end(), [&](CharRange r) { return r.first > last + 1; });
  if (begin != end) {
    first = std::min(first, begin->first);
    last = std::max(last, std::prev(end)->last);
  }
  begin = ranges_.erase(begin, end);
  ranges_.insert(begin, {first, last});
}

void CharSet::add(const CharSet& other) {
  for (const CharRange r : other.ranges_) add_scalars(r.first, r.last);
}

CharSet CharSet::complement() const {
  CharSet out;
  char32_t next = 0;
  for (const CharRange r : ranges_) {
    if (r.first > next) out.add(next, r.first - 1);
    next = r.last + 1;
  }
  if (next <= last_code) out.add(next, last_code);
  return out;
}

CharSet CharSet::intersect(const CharSet& other) const {
  CharSet out;
  auto a = ranges_.begin();
  auto b = other.ranges_.begin();
  while (a != ranges_.end() && b != other.ranges_.end()) {
    const CharRange both{std::max(a->first, b->first), std::min(a->last, b->last)};
    if (both.first <= both.last) out.ranges_.push_back(both);
    (a->last < b->last) ? ++a : ++b;
  }
  return out;
}

bool CharSet::contains(char32_t code) const {
  const auto after = std::ranges::upper_bound(ranges_, code, {}, &CharRange::first);
  return after != ranges_.begin() && std::prev(after)->last >= code;
}

CharSet property_characters(std::string_view name) {
  for (const std::string_view prefix : {"General_Category=", "gc=", "Script=", "sc="}) {
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  }
  CharSet out;
  if (!is_property_name(name)) return out;
  try {
    const Pattern pattern("\\p{" + std::string(short_category(name)) + "}+");
    const std::string text = all_characters();
    Pattern::Scratch scratch;
    for (auto run = pattern.find(text, 0, scratch); run; run = pattern.find(text, run->end, scratch)) {
      std::size_t last = run->end - 1;
      while ((static_cast<unsigned char>(text[last]) & 0xC0) == 0x80) --last;
      out.add(base::decode_utf8(std::string_view(text).substr(run->begin)).code,
              base::decode_utf8(std::string_view(text).substr(last)).code);
    }
  } catch (const Error&) {
    return {};
  }
  return out;
}

std::vector<DigitRanges> split_digits(std::uint32_t first, std::uint32_t last, int digits, int bits) {
  std::vector<DigitRanges> out;
  const std::uint32_t mask = (1u << bits) - 1;
  for (std::uint64_t from = first; from <= last;) {
    // The largest block that starts here: all low digits run through their whole range.
    int free = 0;
    while (free + 1 < digits && (from & ((std::uint64_t{1} << (free + 1) * bits) - 1)) == 0 &&
           from + (std::uint64_t{1} << (free + 1) * bits) - 1 <= last) {
      ++free;
    }
    const int shift = free * bits;
    const std::uint64_t block = std::uint64_t{1} << shift;
    const std::uint64_t room = mask - (from >> shift & mask);
    const std::uint64_t steps = std::min(room, (last - from + 1) / block - 1);
    DigitRanges piece{};
    for (int d = 0; d < digits; ++d) {
      const int place = (digits - 1 - d) * bits;
      piece.first[d] = place < shift ? 0 : static_cast<std::uint16_t>(from >> place & mask);
      piece.last[d] = place < shift ? static_cast<std::uint16_t>(mask) : piece.first[d];
    }
    piece.last[digits - 1 - free] = static_cast<std::uint16_t>(piece.first[digits - 1 - free] + steps);
    out.push_back(piece);
    from += (steps + 1) * block;
  }
  return out;
}

}  // namespace inlay::text
