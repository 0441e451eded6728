// How characters become bytes: as UTF-8, or as the content of a JSON string.
#include <algorithm>

#include "text/grammar_expression.hpp"

namespace inlay::text {
namespace {

constexpr char32_t last_ascii = 0x7E, first_astral = 0x10000, last_code = 0x10FFFF;

// Characters that JSON text may write as \u: plain ASCII stays as it is, so that one text has one form.
const CharSet& may_be_escaped() {
  static const CharSet set = [] {
    CharSet out(0, 0x1F);
    for (const char32_t code : {U'"', U'\\', U'/'}) out.add(code, code);
    out.add(last_ascii + 1, last_code);
    return out;
  }();
  return set;
}

const CharSet& must_be_escaped() {
  static const CharSet set = [] {
    CharSet out(0, 0x1F);
    for (const char32_t code : {U'"', U'\\'}) out.add(code, code);
    return out;
  }();
  return set;
}

struct Utf8Form {
  char32_t first, last;
  int bytes;
  std::uint8_t lead;
};
constexpr Utf8Form utf8_forms[] = {
    {0x00, 0x7F, 1, 0x00}, {0x80, 0x7FF, 2, 0xC0}, {0x800, 0xFFFF, 3, 0xE0}, {0x10000, last_code, 4, 0xF0}};

constexpr std::uint8_t byte(std::uint32_t value) { return static_cast<std::uint8_t>(value); }

}  // namespace

void Speller::spell(Spelling spelling, char32_t code, NodeId from, NodeId to) {
  const bool plain = code >= 0x20 && code <= last_ascii && code != '"' && code != '\\' && code != '/';
  if (plain) return automaton_.add_byte(from, byte(code), byte(code), to);
  spell(spelling, CharSet(code), from, to);
}

void Speller::spell(Spelling spelling, const CharSet& set, NodeId from, NodeId to) {
  if (spelling == Spelling::utf8) return utf8(set, from, to);
  utf8(set.without(must_be_escaped()), from, to);
  const CharSet escaped = set.intersect(may_be_escaped());
  if (!escaped.empty()) escapes(escaped, from, to);
}

void Speller::utf8(const CharSet& set, NodeId from, NodeId to) {
  for (const CharRange range : set.ranges()) {
    for (const Utf8Form& form : utf8_forms) {
      const char32_t first = std::max(range.first, form.first), last = std::min(range.last, form.last);
      if (first > last) continue;
      if (form.bytes == 1) {
        automaton_.add_byte(from, byte(first), byte(last), to);
        continue;
      }
      for (const DigitRanges& digits : split_digits(first, last, form.bytes, 6)) {
        NodeId next = to;
        for (int d = form.bytes - 1; d > 0; --d)
          next = before(false, byte(0x80 | digits.first[d]), byte(0x80 | digits.last[d]), next);
        automaton_.add_byte(from, byte(form.lead | digits.first[0]), byte(form.lead | digits.last[0]), next);
      }
    }
  }
}

void Speller::escapes(const CharSet& set, NodeId from, NodeId to) {
  static constexpr std::pair<char32_t, char> short_forms[] = {{U'"', '"'}, {U'\\', '\\'}, {U'/', '/'}, {0x08, 'b'},
                                                              {0x0C, 'f'}, {0x0A, 'n'},   {0x0D, 'r'}, {0x09, 't'}};
  const NodeId escape = automaton_.add_node();
  automaton_.add_byte(from, '\\', '\\', escape);
  for (const auto& [code, letter] : short_forms) {
    if (set.contains(code)) automaton_.add_byte(escape, byte(letter), byte(letter), to);
  }
  const NodeId digits = automaton_.add_node();
  automaton_.add_byte(escape, 'u', 'u', digits);
  unicode_escapes(set, digits, to);
}

void Speller::unicode_escapes(const CharSet& set, NodeId from, NodeId to) {
  for (const CharRange range : set.ranges()) {
    if (range.first < first_astral)
      hexadecimal(range.first, std::min<char32_t>(range.last, first_astral - 1), from, to);
    if (range.last < first_astral) continue;
    const std::uint32_t first = std::max(range.first, first_astral) - first_astral;
    for (const DigitRanges& halves : split_digits(first, range.last - first_astral, 2, 10)) {
      const NodeId second = automaton_.add_node(), digits = automaton_.add_node();
      hexadecimal(0xD800 + halves.first[0], 0xD800 + halves.last[0], from, second);
      automaton_.add_text(second, "\\u", digits);
      hexadecimal(0xDC00 + halves.first[1], 0xDC00 + halves.last[1], digits, to);
    }
  }
}

void Speller::hexadecimal(std::uint32_t first, std::uint32_t last, NodeId from, NodeId to) {
  for (const DigitRanges& digits : split_digits(first, last, 4, 4)) {
    NodeId next = to;
    for (int d = 3; d > 0; --d) next = before(true, byte(digits.first[d]), byte(digits.last[d]), next);
    hex_digit(byte(digits.first[0]), byte(digits.last[0]), from, next);
  }
}

void Speller::hex_digit(std::uint8_t first, std::uint8_t last, NodeId from, NodeId to) {
  if (first <= 9) automaton_.add_byte(from, byte('0' + first), byte('0' + std::min<int>(last, 9)), to);
  if (last < 10) return;
  const int low = std::max<int>(first, 10) - 10, high = last - 10;
  for (const char letter : {'a', 'A'}) {
    automaton_.add_byte(from, byte(letter + low), byte(letter + high), to);
  }
}

NodeId Speller::before(bool hex, std::uint8_t first, std::uint8_t last, NodeId to) {
  const std::uint64_t key = std::uint64_t{hex} << 48 | std::uint64_t{first} << 40 | std::uint64_t{last} << 32 | to;
  const auto [at, added] = tails_.try_emplace(key, no_id);
  if (!added) return at->second;
  const NodeId node = at->second = automaton_.add_node();
  hex ? hex_digit(first, last, node, to) : automaton_.add_byte(node, first, last, to);
  return node;
}

}  // namespace inlay::text
