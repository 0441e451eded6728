// Cuts the source of a template into tokens, one at a time, with Jinja's rules for white space around tags.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "text/jinja_error.hpp"

namespace inlay::text::jinja {

struct Token {
  enum class Kind : std::uint8_t {
    text,
    print_begin,
    print_end,
    block_begin,
    block_end,
    name,
    string,
    integer,
    real,
    symbol,
    end
  };

  Kind kind = Kind::end;
  std::uint32_t offset = 0;
  std::string_view text = {};  // text, name, symbol: as in the source
  std::string decoded = {};    // string: what the literal means
  std::int64_t integer = 0;
  double real = 0;

  bool is_name(std::string_view word) const { return kind == Kind::name && text == word; }
  bool is_symbol(std::string_view sign) const { return kind == Kind::symbol && text == sign; }
};

inline bool is_decimal_digit(char byte) { return byte >= '0' && byte <= '9'; }

// The source with every line end as one '\n' and without the last one. Throws Error for what is not UTF-8 or has NUL.
std::string normalized_source(std::string_view source);

class Lexer {
 public:
  explicit Lexer(std::string_view source) : source_(source) {}

  Token next();
  // Raises `kind` with the line and column of `offset`.
  [[noreturn]] void fail_at(std::size_t offset, Trouble kind, const std::string& sentence) const;

 private:
  enum class State : std::uint8_t { text, print, block };

  Token next_text();
  Token next_in_tag();
  Token tag_begin(std::size_t at, Token::Kind kind);
  void skip_comment(std::size_t at);
  bool at_raw_block(std::size_t at, std::size_t& body) const;
  Token raw_text(std::size_t tag, std::size_t body);
  bool at_tag_end(Token& token);
  Token name_token();
  Token number_token();
  std::string take_digits(int radix);
  void take_fraction(Token& token, std::string& digits);
  Token string_token();
  void take_escape(std::string& decoded);
  char32_t take_hexadecimal(std::size_t length);
  Token symbol_token();
  std::string_view leading_text(std::size_t begin, std::size_t tag) const;
  void leave_tag(bool strips, bool keeps_newline, bool is_block);
  std::string_view rest() const { return source_.substr(at_); }
  char peek(std::size_t ahead = 0) const { return at_ + ahead < source_.size() ? source_[at_ + ahead] : '\0'; }

  std::string_view source_;
  std::size_t at_ = 0;
  State state_ = State::text;
  std::size_t tag_offset_ = 0;
  std::string brackets_;  // those open within the tag: its end is looked for only when there are none
};

// "line:column" of an offset, both from 1.
std::string line_and_column(std::string_view source, std::size_t offset);

}  // namespace inlay::text::jinja
