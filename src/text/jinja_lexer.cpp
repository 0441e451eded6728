// The lexer: text outside of tags first, then what is inside of them.
#include "text/jinja_lexer.hpp"

#include <algorithm>
#include <array>

#include "base/utf8.hpp"
#include "text/jinja_text.hpp"

namespace inlay::text::jinja {
namespace {

bool is_name_start(char byte) {
  return (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '_' || (byte & 0x80);
}

std::size_t skip_space(std::string_view source, std::size_t at) {
  while (at < source.size()) {
    const auto character = base::decode_utf8(source.substr(at));
    if (!is_space(character.code)) break;
    at += character.size;
  }
  return at;
}

std::string_view without_trailing_space(std::string_view text) {
  while (!text.empty()) {
    std::size_t last = text.size() - 1;
    while (last > 0 && (text[last] & 0xC0) == 0x80) --last;
    if (!is_space(base::decode_utf8(text.substr(last)).code)) break;
    text = text.substr(0, last);
  }
  return text;
}

}  // namespace

std::string normalized_source(std::string_view source) {
  if (source.find('\0') != source.npos) fail(Trouble::encoding, "the template contains a NUL byte");
  if (!base::is_utf8(source)) fail(Trouble::encoding, "the template is not valid UTF-8");
  std::string normalized;
  normalized.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '\r' && i + 1 < source.size() && source[i + 1] == '\n') continue;
    normalized += source[i] == '\r' ? '\n' : source[i];
  }
  if (!normalized.empty() && normalized.back() == '\n') normalized.pop_back();
  return normalized;
}

std::string line_and_column(std::string_view source, std::size_t offset) {
  const std::string_view before = source.substr(0, offset);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t line_begin = before.rfind('\n') + 1;
  return std::to_string(line) + ":" + std::to_string(1 + code_point_count(before.substr(line_begin)));
}

void Lexer::fail_at(std::size_t offset, Trouble kind, const std::string& sentence) const {
  const std::string where = line_and_column(source_, offset);
  throw trouble(kind, "chat template " + where + ": " + sentence, where);
}

Token Lexer::next() { return state_ == State::text ? next_text() : next_in_tag(); }

Token Lexer::next_text() {
  while (at_ < source_.size()) {
    std::size_t tag = source_.find('{', at_);
    while (tag != source_.npos && (tag + 1 == source_.size() || std::string_view("{%#").find(source_[tag + 1]) == 3 ||
                                   std::string_view("{%#").find(source_[tag + 1]) == std::string_view::npos)) {
      tag = source_.find('{', tag + 1);
    }
    const std::string_view text = leading_text(at_, std::min(tag, source_.size()));
    const std::size_t begin = std::exchange(at_, std::min(tag, source_.size()));
    if (!text.empty()) return {.kind = Token::Kind::text, .offset = static_cast<std::uint32_t>(begin), .text = text};
    if (tag == source_.npos) break;

    std::size_t raw_body = 0;
    if (source_[tag + 1] == '{') return tag_begin(tag, Token::Kind::print_begin);
    if (source_[tag + 1] == '#') {
      skip_comment(tag);
    } else if (at_raw_block(tag, raw_body)) {
      if (Token raw = raw_text(tag, raw_body); !raw.text.empty()) return raw;
    } else {
      return tag_begin(tag, Token::Kind::block_begin);
    }
  }
  return {.offset = static_cast<std::uint32_t>(source_.size())};
}

// What of the text before a tag is printed: `-` strips all white space, otherwise a block or comment that is the first
// thing on its line strips its indentation, unless `+` says not to.
std::string_view Lexer::leading_text(std::size_t begin, std::size_t tag) const {
  const std::string_view text = source_.substr(begin, tag - begin);
  if (tag == source_.size()) return text;
  const char sign = tag + 2 < source_.size() ? source_[tag + 2] : '\0';
  if (sign == '-') return without_trailing_space(text);
  if (sign == '+' || source_[tag + 1] == '{') return text;
  const std::size_t line = text.rfind('\n') + 1;
  const bool starts_line = line > 0 || begin == 0 || source_[begin - 1] == '\n';
  if (starts_line && skip_space(text, line) == text.size()) return text.substr(0, line);
  return text;
}

Token Lexer::tag_begin(std::size_t at, Token::Kind kind) {
  state_ = kind == Token::Kind::print_begin ? State::print : State::block;
  tag_offset_ = at;
  at_ = at + 2;
  if (peek() == '-' || peek() == '+') ++at_;
  return {.kind = kind, .offset = static_cast<std::uint32_t>(at)};
}

// After the closing bracket of a tag: `-` strips white space, otherwise blocks and comments swallow one newline.
void Lexer::leave_tag(bool strips, bool keeps_newline, bool is_block) {
  state_ = State::text;
  if (strips) {
    at_ = skip_space(source_, at_);
  } else if (is_block && !keeps_newline && peek() == '\n') {
    ++at_;
  }
}

void Lexer::skip_comment(std::size_t at) {
  std::size_t body = at + 2;
  if (body < source_.size() && (source_[body] == '-' || source_[body] == '+')) ++body;
  const std::size_t close = source_.find("#}", body);
  if (close == source_.npos) fail_at(at, Trouble::syntax, "a comment is not closed");
  const char sign = close > body ? source_[close - 1] : '\0';
  at_ = close + 2;
  leave_tag(sign == '-', sign == '+', true);
}

bool Lexer::at_raw_block(std::size_t at, std::size_t& body) const {
  at += 2;
  if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) ++at;
  at = skip_space(source_, at);
  if (source_.substr(at, 3) != "raw") return false;
  at = skip_space(source_, at + 3);
  const bool strips = source_.substr(at, 3) == "-%}";
  if (!strips && source_.substr(at, 2) != "%}") return false;
  body = strips ? skip_space(source_, at + 3) : at + 2;
  return true;
}

Token Lexer::raw_text(std::size_t tag, std::size_t body) {
  for (std::size_t close = source_.find("{%", body); close != source_.npos; close = source_.find("{%", close + 2)) {
    std::size_t at = close + 2;
    if (at < source_.size() && (source_[at] == '-' || source_[at] == '+')) ++at;
    at = skip_space(source_, at);
    if (source_.substr(at, 6) != "endraw") continue;
    at = skip_space(source_, at + 6);
    const char sign = at < source_.size() ? source_[at] : '\0';
    if (sign == '-' || sign == '+') ++at;
    if (source_.substr(at, 2) != "%}") continue;
    const std::string_view text = leading_text(body, close);
    at_ = at + 2;
    leave_tag(sign == '-', sign == '+', true);
    return {.kind = Token::Kind::text, .offset = static_cast<std::uint32_t>(body), .text = text};
  }
  fail_at(tag, Trouble::syntax, "a raw block is not closed");
}

bool Lexer::at_tag_end(Token& token) {
  if (!brackets_.empty()) return false;
  const bool is_block = state_ == State::block;
  const std::string_view bracket = is_block ? "%}" : "}}";
  const char sign = peek();
  const bool has_sign = (sign == '-' || (sign == '+' && is_block)) && rest().substr(1, 2) == bracket;
  if (!has_sign && rest().substr(0, 2) != bracket) return false;
  token.kind = is_block ? Token::Kind::block_end : Token::Kind::print_end;
  token.text = bracket;
  at_ += has_sign ? 3 : 2;
  leave_tag(has_sign && sign == '-', has_sign && sign == '+', is_block);
  return true;
}

Token Lexer::next_in_tag() {
  at_ = skip_space(source_, at_);
  if (at_ == source_.size()) fail_at(tag_offset_, Trouble::syntax, "a tag is not closed");
  Token token{.offset = static_cast<std::uint32_t>(at_)};
  if (at_tag_end(token)) return token;
  const char first = peek();
  if (is_name_start(first)) return name_token();
  if (is_decimal_digit(first)) return number_token();
  if (first == '\'' || first == '"') return string_token();
  return symbol_token();
}

Token Lexer::name_token() {
  const std::size_t begin = at_;
  while (is_name_start(peek()) || is_decimal_digit(peek())) {
    const auto character = base::decode_utf8(rest());
    if (is_space(character.code)) break;
    at_ += character.size;
  }
  return {.kind = Token::Kind::name,
          .offset = static_cast<std::uint32_t>(begin),
          .text = source_.substr(begin, at_ - begin)};
}

Token Lexer::symbol_token() {
  static constexpr std::array<std::string_view, 27> symbols = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                               "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                               ">",  "<",  "=",  ".",  ":",  "|",  ",", ";", ""};
  const auto symbol =
      *std::find_if(symbols.begin(), symbols.end(), [&](std::string_view each) { return rest().starts_with(each); });
  if (symbol.empty()) fail_at(at_, Trouble::syntax, "a character that no expression has");
  if (const std::size_t opening = std::string_view("([{").find(symbol); opening != std::string_view::npos) {
    brackets_ += ")]}"[opening];
  } else if (std::string_view(")]}").find(symbol) != std::string_view::npos) {
    if (brackets_.empty() || brackets_.back() != symbol[0]) fail_at(at_, Trouble::syntax, "a bracket does not match");
    brackets_.pop_back();
  }
  Token token{.kind = Token::Kind::symbol, .offset = static_cast<std::uint32_t>(at_), .text = symbol};
  at_ += symbol.size();
  return token;
}

}  // namespace inlay::text::jinja
