// What filters and methods do with text: search, cut, replace, pad, change case. Origins survive all of it.
#pragma once

#include <string>
#include <string_view>

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

char32_t code_at(std::string_view text, std::size_t at);
std::size_t character_before(std::string_view text, std::size_t end);  // where the one that ends there begins

// Byte offset of the first or last `needle`, or npos; counted as work.
std::size_t find_text(const Machine& machine, std::string_view text, std::string_view needle, std::size_t from = 0);
std::size_t find_last_text(const Machine& machine, std::string_view text, std::string_view needle);

enum class Side { left, right, both };
enum class Case {
  upper,
  lower,
  capitalized,
  title,
  words,
  swapped
};  // words: the filter `title`, which is not str.title()

// Without the characters of `set` at its ends; white space where `set` is null.
TextRef stripped(const Machine& machine, TextRef text, TextRef set, Side side);
TextRef replaced(const Machine& machine, TextRef text, TextRef old, TextRef fresh, std::int64_t most = -1);
// At white space where `separator` is null. `most` cuts, counted from the side; all where it is negative.
List* split(const Machine& machine, TextRef text, TextRef separator, std::int64_t most, Side side);
List* split_lines(const Machine& machine, TextRef text, bool keeps_ends);
TextRef joined(const Machine& machine, TextRef separator, const List& items);
TextRef in_case(const Machine& machine, TextRef text, Case wanted);
// Filled up to `width` code points; the filling goes to `side`.
TextRef padded(const Machine& machine, TextRef text, std::int64_t width, Side side, std::string_view filling = " ");
TextRef html_escaped(const Machine& machine, TextRef text);

char32_t upper_case(char32_t letter);  // one code to one, as to_lower() is

}  // namespace inlay::text::jinja
