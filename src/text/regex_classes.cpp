// The characters of a pattern, and the sets that it writes for them, as ECMAScript defines them.
#include "text/regex_classes.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "text/automaton.hpp"

namespace inlay::text {
namespace {

CharSet digits() { return CharSet('0', '9'); }

CharSet word_characters() {
  CharSet out = digits();
  out.add('A', 'Z');
  out.add('a', 'z');
  out.add('_', '_');
  return out;
}

CharSet white_space() {
  CharSet out(0x09, 0x0D);
  for (const char32_t code : {0x20, 0xA0, 0x1680, 0x202F, 0x205F, 0x3000, 0xFEFF}) out.add(code, code);
  out.add(0x2000, 0x200A);
  out.add(0x2028, 0x2029);
  return out;
}

CharSet property(RegexReader& reader, bool negated) {
  if (!reader.take('{')) reader.fail(Flaw::syntax, "has a \\p without a property name");
  const std::string name = reader.until('}');
  const CharSet set = property_characters(name);
  if (set.empty()) reader.fail(Flaw::unsupported, "names a Unicode property that is not known");
  return negated ? set.complement() : set;
}

CharSet unicode_escape(RegexReader& reader) {
  if (reader.take('{')) {
    char32_t code = 0;
    const std::string text = reader.until('}');
    for (const char c : text) {
      const auto digit = hex_value(c);
      if (!digit || code > 0xFFFFF) reader.fail(Flaw::syntax, "has a \\u{} that is not a character");
      code = code * 16 + *digit;
    }
    if (text.empty() || code > 0x10FFFF) reader.fail(Flaw::syntax, "has a \\u{} that is not a character");
    return CharSet(code);
  }
  const auto code = reader.hexadecimal(4);
  if (!code) reader.fail(Flaw::syntax, "has a \\u without four hexadecimal digits");
  if (*code < 0xD800 || *code > 0xDFFF) return CharSet(*code);
  // Two escaped surrogates are one character.
  if (*code <= 0xDBFF && reader.take('\\') && reader.take('u')) {
    const auto low = reader.hexadecimal(4);
    if (low && *low >= 0xDC00 && *low <= 0xDFFF) return CharSet(0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00));
  }
  reader.fail(Flaw::unsupported, "has a half of a surrogate pair");
}

bool is_letter(char32_t code) { return (code >= 'a' && code <= 'z') || (code >= 'A' && code <= 'Z'); }

CharSet control_escape(RegexReader& reader) {
  if (reader.done() || !is_letter(reader.peek())) reader.fail(Flaw::syntax, "has a \\c without a letter");
  return CharSet(reader.next() % 32);
}

}  // namespace

char32_t RegexReader::peek() const { return base::decode_utf8(pattern_.substr(at_)).code; }

char32_t RegexReader::next() {
  const auto character = base::decode_utf8(pattern_.substr(at_));
  at_ += character.size;
  return character.code;
}

bool RegexReader::take(char32_t code) {
  if (done() || peek() != code) return false;
  next();
  return true;
}

std::optional<std::uint32_t> RegexReader::number() {
  const std::size_t begin = at_;
  std::uint64_t value = 0;
  for (; !done() && pattern_[at_] >= '0' && pattern_[at_] <= '9'; ++at_) {
    value = value * 10 + static_cast<std::uint64_t>(pattern_[at_] - '0');
    if (value > most_repeats) fail(Flaw::limit, fmt::format("repeats more than {} times", most_repeats));
  }
  if (at_ == begin) return std::nullopt;
  return static_cast<std::uint32_t>(value);
}

std::optional<char32_t> RegexReader::hexadecimal(int digits) {
  char32_t value = 0;
  std::size_t at = at_;
  for (int i = 0; i < digits; ++i, ++at) {
    const auto digit = at < pattern_.size() ? hex_value(pattern_[at]) : std::nullopt;
    if (!digit) return std::nullopt;
    value = value * 16 + *digit;
  }
  at_ = at;
  return value;
}

std::string RegexReader::until(char end) {
  const std::size_t stop = pattern_.find(end, at_);
  if (stop == std::string_view::npos) fail(Flaw::syntax, fmt::format("has no '{}' where one must follow", end));
  std::string text(pattern_.substr(at_, stop - at_));
  at_ = stop + 1;
  return text;
}

void RegexReader::fail(Flaw flaw, const std::string& what) const {
  if (where_.empty())
    refuse(flaw, fmt::format("the pattern {} at its byte {}", what, at_), fmt::format("byte {}", at_));
  refuse(flaw, fmt::format("the pattern at {} {} at its byte {}", where_, what, at_), where_);
}

CharSet line_ends() {
  CharSet out('\n');
  out.add('\r', '\r');
  out.add(0x2028, 0x2029);
  return out;
}

CharSet regex_escape(RegexReader& reader) {
  const char32_t letter = reader.next();
  switch (letter) {
    case 'd': return digits();
    case 'D': return digits().complement();
    case 'w': return word_characters();
    case 'W': return word_characters().complement();
    case 's': return white_space();
    case 'S': return white_space().complement();
    case 't': return CharSet('\t');
    case 'n': return CharSet('\n');
    case 'r': return CharSet('\r');
    case 'f': return CharSet('\f');
    case 'v': return CharSet('\v');
    case '0': return CharSet(U'\0');
    case 'p': return property(reader, false);
    case 'P': return property(reader, true);
    case 'u': return unicode_escape(reader);
    case 'c': return control_escape(reader);
    case 'x':
      if (const auto code = reader.hexadecimal(2)) return CharSet(*code);
      reader.fail(Flaw::syntax, "has a \\x without two hexadecimal digits");
    default: break;
  }
  if (is_letter(letter) || (letter >= '1' && letter <= '9')) {
    reader.fail(Flaw::unsupported, fmt::format("has an escape that is not known: \\{}", static_cast<char>(letter)));
  }
  return CharSet(letter);
}

CharSet regex_class(RegexReader& reader) {
  CharSet set;
  const bool negated = reader.take('^');
  const auto member = [&] {
    const char32_t code = reader.next();
    if (code != '\\') return CharSet(code);
    if (reader.done()) reader.fail(Flaw::syntax, "ends in a backslash");
    return reader.take('b') ? CharSet('\b') : regex_escape(reader);
  };
  const auto check_open = [&] {
    if (reader.done()) reader.fail(Flaw::syntax, "has a '[' without a ']'");
  };
  for (check_open(); !reader.take(']'); check_open()) {
    const CharSet first = member();
    set.add(first);
    if (reader.done() || reader.peek() != '-') continue;
    reader.next();
    check_open();
    if (reader.peek() == ']') {
      set.add('-', '-');
      continue;
    }
    const CharSet last = member();
    const auto only = [](const CharSet& s) {
      return s.ranges().size() == 1 && s.ranges()[0].first == s.ranges()[0].last;
    };
    if (!only(first) || !only(last)) reader.fail(Flaw::syntax, "has a range in a class whose end is itself a class");
    if (last.ranges()[0].first < first.ranges()[0].first)
      reader.fail(Flaw::bad_value, "has a range in a class the wrong way round");
    set.add(first.ranges()[0].first, last.ranges()[0].first);
  }
  return negated ? set.complement() : set;
}

}  // namespace inlay::text
