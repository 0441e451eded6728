// Values as text: as Python prints them, and as JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

// Python's str(): what {{ value }} writes.
TextRef printed(const Machine& machine, const Value& value);
// Python's repr(): strings in quotes.
TextRef represented(const Machine& machine, const Value& value);

// A float with the fewest digits that read back as the same number, with Python's choice of exponents.
std::string real_text(double number);

struct JsonStyle {
  std::optional<std::string> indent = {};  // of each level; none: everything on one line
  std::string item_separator = {};
  std::string key_separator = ": ";
  bool sort_keys = false;
  bool ascii_only = false;
};

// Python's json.dumps(). Throws Error for what JSON has no form for.
TextRef to_json(const Machine& machine, const Value& value, const JsonStyle& style);

// A number with so many hexadecimal digits, as escapes have it.
std::string hexadecimal(char32_t code, int digits);

// Where all of a value's text came from.
Origin origin_of(const Machine& machine, const Value& value, int depth = 0);

}  // namespace inlay::text::jinja
