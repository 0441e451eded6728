// UTF-8 read without trust: every byte string decodes, and what is broken is told apart from what is only unfinished.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace inlay::base {

inline constexpr char32_t replacement_character = 0xFFFD;

struct Utf8Character {
  enum class State : std::uint8_t { whole, broken, unfinished };

  char32_t code = replacement_character;  // U+FFFD unless whole
  std::uint8_t size = 0;                  // bytes; of the longest beginning of a character where broken or unfinished
  State state = State::broken;

  bool whole() const { return state == State::whole; }
};

// The character at the start of `text`, which must not be empty. `unfinished`: the text ends before the character does.
inline Utf8Character decode_utf8(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t lead = byte(0);
  if (lead < 0x80) return {lead, 1, Utf8Character::State::whole};
  if (lead < 0xC2 || lead > 0xF4) return {replacement_character, 1, Utf8Character::State::broken};
  const std::uint8_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte's range is narrower after four of the leads: no overlong forms, surrogates, or codes above 10FFFF.
  std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code = lead & (0x7F >> size);
  for (std::uint8_t i = 1; i < size; ++i) {
    if (i == text.size()) return {replacement_character, i, Utf8Character::State::unfinished};
    if (byte(i) < low || byte(i) > high) return {replacement_character, i, Utf8Character::State::broken};
    code = code << 6 | (byte(i) & 0x3F);
    low = 0x80, high = 0xBF;
  }
  return {code, size, Utf8Character::State::whole};
}

// `code` must be a Unicode scalar value.
template <class Text>
void append_utf8(char32_t code, Text& out) {
  const auto tail = [&](int shift) { out += static_cast<char>(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6), tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12), tail(6), tail(0);
  } else {
    out += static_cast<char>(0xF0 | code >> 18), tail(12), tail(6), tail(0);
  }
}

// Bytes of `text` before the first that is not part of a whole character.
inline std::size_t valid_utf8_prefix(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size()) {
    const auto character = decode_utf8(text.substr(at));
    if (!character.whole()) break;
    at += character.size;
  }
  return at;
}

inline bool is_utf8(std::string_view text) { return valid_utf8_prefix(text) == text.size(); }

}  // namespace inlay::base
