// The characters of a pattern, and the sets that it writes for them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "text/grammar_chars.hpp"
#include "text/grammar_error.hpp"

namespace inlay::text {

// Reads a valid UTF-8 pattern character by character.
class RegexReader {
 public:
  RegexReader(std::string_view pattern, const std::string& where) : pattern_(pattern), where_(where) {}
  bool done() const { return at_ == pattern_.size(); }
  std::size_t at() const { return at_; }
  void back_to(std::size_t at) { at_ = at; }
  char32_t peek() const;
  char32_t next();
  bool take(char32_t code);
  std::optional<std::uint32_t> number();                             // decimal; refuses one that is too large
  std::optional<char32_t> hexadecimal(int digits);                   // exactly so many, or nothing is read
  std::string until(char end);                                       // up to `end`, which is passed
  [[noreturn]] void fail(Flaw flaw, const std::string& what) const;  // "the pattern <what>"

 private:
  std::string_view pattern_;
  const std::string& where_;
  std::size_t at_ = 0;
};

CharSet line_ends();

// A bracketed class, after its '['.
CharSet regex_class(RegexReader& reader);

// What a backslash and the next characters stand for, after the backslash.
CharSet regex_escape(RegexReader& reader);

}  // namespace inlay::text
