// GPT-2's alphabet: one printable character for each byte, in which byte-level vocabularies are written.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "base/utf8.hpp"

namespace inlay::text {

// Bytes that print as themselves keep their number; the other 68 follow from U+0100, in order.
constexpr std::array<char32_t, 256> byte_letters() {
  std::array<char32_t, 256> letters{};
  char32_t next = 0x100;
  for (char32_t byte = 0; byte < 256; ++byte) {
    const bool prints = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
    letters[byte] = prints ? byte : next++;
  }
  return letters;
}

inline std::string to_byte_letters(std::string_view bytes) {
  static constexpr auto letters = byte_letters();
  std::string out;
  for (const char byte : bytes) base::append_utf8(letters[static_cast<unsigned char>(byte)], out);
  return out;
}

// Characters outside the alphabet stay as they are.
inline void append_from_byte_letters(std::string_view text, std::string& out) {
  static constexpr auto bytes = [] {
    std::array<short, 0x144> table{};
    table.fill(-1);
    short byte = 0;
    for (const char32_t letter : byte_letters()) table[letter] = byte++;
    return table;
  }();
  while (!text.empty()) {
    const auto character = base::decode_utf8(text);
    if (character.code < bytes.size() && bytes[character.code] >= 0) {
      out += static_cast<char>(bytes[character.code]);
    } else {
      out += text.substr(0, character.size);
    }
    text.remove_prefix(character.size);
  }
}

}  // namespace inlay::text
