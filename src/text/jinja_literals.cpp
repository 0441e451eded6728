// Numbers and strings within tags.
#include <charconv>
#include <limits>

#include "base/utf8.hpp"
#include "text/jinja_lexer.hpp"

namespace inlay::text::jinja {

// Digits without the single underscores that may stand between them.
std::string Lexer::take_digits(int radix) {
  const auto is_digit = [&](char byte) {
    return is_decimal_digit(byte) || (radix == 16 && (byte | 0x20) >= 'a' && (byte | 0x20) <= 'f');
  };
  std::string digits;
  for (; is_digit(peek()) || (peek() == '_' && is_digit(peek(1))); ++at_) {
    if (peek() != '_') digits += peek();
  }
  return digits;
}

void Lexer::take_fraction(Token& token, std::string& digits) {
  if (peek() == '.' && is_decimal_digit(peek(1))) {
    token.kind = Token::Kind::real;
    ++at_;
    digits += '.' + take_digits(10);
  }
  const std::size_t sign = peek(1) == '+' || peek(1) == '-';
  if ((peek() | 0x20) != 'e' || !is_decimal_digit(peek(1 + sign))) return;
  token.kind = Token::Kind::real;
  digits += peek(1) == '-' ? "e-" : "e";
  at_ += 1 + sign;
  digits += take_digits(10);
}

Token Lexer::number_token() {
  Token token{.kind = Token::Kind::integer, .offset = static_cast<std::uint32_t>(at_)};
  const char mark = peek() == '0' ? static_cast<char>(peek(1) | 0x20) : '\0';
  const int radix = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
  if (radix != 10) at_ += 2;
  std::string digits = take_digits(radix);
  const bool after_dot = token.offset > 0 && source_[token.offset - 1] == '.';  // a.0.1 has no fraction in it
  if (radix == 10 && !after_dot) take_fraction(token, digits);

  const char* const end = digits.data() + digits.size();
  const auto parsed = token.kind == Token::Kind::real ? std::from_chars(digits.data(), end, token.real)
                                                      : std::from_chars(digits.data(), end, token.integer, radix);
  if (parsed.ec == std::errc::result_out_of_range) {
    const bool is_whole = token.kind == Token::Kind::integer;
    if (is_whole) fail_at(token.offset, Trouble::arithmetic, "a number does not fit into 64 bits");
    token.real = digits.find('-') == digits.npos ? std::numeric_limits<double>::infinity() : 0;
  }
  if (parsed.ec == std::errc::invalid_argument || parsed.ptr != end) {
    fail_at(token.offset, Trouble::syntax, "a number is malformed");
  }
  return token;
}

char32_t Lexer::take_hexadecimal(std::size_t length) {
  std::uint32_t code = 0;
  const std::string_view digits = rest().substr(0, length);
  const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
  if (digits.size() < length || parsed.ptr != digits.data() + length) {
    fail_at(at_, Trouble::syntax, "an escape in a string needs " + std::to_string(length) + " hexadecimal digits");
  }
  at_ += length;
  return code;
}

// What follows a backslash, as in Python: unknown escapes stay as they are, an escaped line end joins the lines.
void Lexer::take_escape(std::string& decoded) {
  static constexpr std::string_view plain = "ntrabfv\\'\"", meaning = "\n\t\r\a\b\f\v\\'\"";
  const char escape = peek();
  if (const std::size_t known = plain.find(escape); known != plain.npos) {
    decoded += meaning[known];
    ++at_;
  } else if (escape == 'x' || escape == 'u' || escape == 'U') {
    ++at_;
    char32_t code = take_hexadecimal(escape == 'x' ? 2 : escape == 'u' ? 4 : 8);
    if (code >= 0xD800 && code < 0xDC00 && rest().starts_with("\\u")) {  // the first half of a pair
      at_ += 2;
      const char32_t low = take_hexadecimal(4);
      code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00) : low;
    }
    const bool is_scalar = code <= 0x10FFFF && (code < 0xD800 || code >= 0xE000);
    base::append_utf8(is_scalar ? code : base::replacement_character, decoded);
  } else if (escape >= '0' && escape <= '7') {
    char32_t code = 0;
    for (int i = 0; i < 3 && peek() >= '0' && peek() <= '7'; ++i) {
      code = code * 8 + static_cast<char32_t>(source_[at_++] - '0');
    }
    base::append_utf8(code, decoded);
  } else if (escape == '\n') {
    ++at_;
  } else {
    decoded += '\\';
  }
}

Token Lexer::string_token() {
  Token token{.kind = Token::Kind::string, .offset = static_cast<std::uint32_t>(at_)};
  const char quote = peek();
  ++at_;
  while (at_ < source_.size() && peek() != quote) {
    const char byte = source_[at_++];
    if (byte == '\\') {
      take_escape(token.decoded);
    } else {
      token.decoded += byte;
    }
  }
  if (at_ >= source_.size()) fail_at(token.offset, Trouble::syntax, "a string is not closed");
  ++at_;
  return token;
}

}  // namespace inlay::text::jinja
