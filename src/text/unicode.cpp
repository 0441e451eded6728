#include "text/unicode.hpp"

#include <algorithm>

#include "base/utf8.hpp"
#include "text/unicode_tables.hpp"

namespace inlay::text {
namespace {

std::u32string to_codes(std::string_view text) {
  std::u32string codes;
  while (!text.empty()) {
    const auto character = base::decode_utf8(text);
    codes += character.code;
    text.remove_prefix(character.size);
  }
  return codes;
}

// Hangul syllables are numbered by their three letters; the last may be absent.
constexpr char32_t first_syllable = 0xAC00, last_syllable = 0xD7A3;

void append_letters(char32_t syllable, std::u32string& out) {
  const char32_t index = syllable - first_syllable;
  out += char32_t(0x1100 + index / (21 * 28));
  out += char32_t(0x1161 + index / 28 % 21);
  if (index % 28 != 0) out += char32_t(0x11A7 + index % 28);
}

}  // namespace

std::pmr::string to_valid_utf8(std::string_view text, std::pmr::memory_resource* memory) {
  std::pmr::string out(memory);
  out.reserve(text.size());
  for (;;) {
    const std::size_t valid = base::valid_utf8_prefix(text);
    out += text.substr(0, valid);
    if (valid == text.size()) return out;
    base::append_utf8(base::replacement_character, out);
    text.remove_prefix(valid + 1);
  }
}

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == ' ' || (code >= 0x09 && code <= 0x0D);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

char32_t to_lower(char32_t code) {
  const auto* const run = std::partition_point(std::begin(capitals), std::end(capitals),
                                               [&](const Capitals& each) { return each.last < code; });
  if (run == std::end(capitals) || code < run->first) return code;
  const bool capital = (code - run->first) % static_cast<char32_t>(run->step) == 0;
  return capital ? static_cast<char32_t>(static_cast<std::int32_t>(code) + run->distance) : code;
}

std::pmr::string to_lower(std::string_view text, std::pmr::memory_resource* memory) {
  std::pmr::string out(memory);
  while (!text.empty()) {
    const auto character = base::decode_utf8(text);
    base::append_utf8(to_lower(character.code), out);
    text.remove_prefix(character.size);
  }
  return out;
}

BaseLetters::BaseLetters(std::pmr::memory_resource* memory) : decomposed_(memory) {
  for (std::string_view rest = unaccented; !rest.empty();) {
    const std::u32string word = to_codes(rest.substr(0, rest.find(' ')));
    rest.remove_prefix(rest.find(' ') + 1);
    const std::size_t equals = word.find(U'=', 1);
    for (const char32_t code : word.substr(equals + 1))
      decomposed_.emplace_back(code, std::u32string_view(word).substr(0, equals));
  }
  for (const auto& [first, texts] : ideographs) {
    char32_t code = first;
    for (const char32_t text : to_codes(texts)) {
      if (text != U' ') decomposed_.emplace_back(code, std::u32string_view(&text, 1));
      ++code;
    }
  }
  std::sort(decomposed_.begin(), decomposed_.end());
}

void BaseLetters::append(char32_t code, std::u32string& out) const {
  if (code < 0x80) {
    out += code;
  } else if (code >= first_syllable && code <= last_syllable) {
    append_letters(code, out);
  } else {
    const auto found = std::partition_point(decomposed_.begin(), decomposed_.end(),
                                            [&](const auto& each) { return each.first < code; });
    const bool known = found != decomposed_.end() && found->first == code;
    known ? out += std::u32string_view(found->second) : out += code;
  }
}

}  // namespace inlay::text
