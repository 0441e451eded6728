// Byte tokens: the text "<0x0A>" stands for the byte 0A.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace inlay::text {

inline std::optional<std::uint8_t> hex_digit(char c) {
  if (c >= '0' && c <= '9') return static_cast<std::uint8_t>(c - '0');
  if (c >= 'A' && c <= 'F') return static_cast<std::uint8_t>(c - 'A' + 10);
  if (c >= 'a' && c <= 'f') return static_cast<std::uint8_t>(c - 'a' + 10);
  return std::nullopt;
}

inline std::optional<std::uint8_t> byte_of(std::string_view token_text) {
  if (token_text.size() != 6 || !token_text.starts_with("<0x") || token_text.back() != '>') return std::nullopt;
  const auto high = hex_digit(token_text[3]), low = hex_digit(token_text[4]);
  if (!high || !low) return std::nullopt;
  return static_cast<std::uint8_t>(*high << 4 | *low);
}

}  // namespace inlay::text
