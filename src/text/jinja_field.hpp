// One place in a pattern that a value is put into, and how it is written there.
#pragma once

#include <string>

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

struct Field {
  std::string_view filling = " ";
  char align = '\0';  // < > ^ =
  char sign = '-';    // - + or blank
  bool alternate = false;
  char grouping = '\0';
  std::int64_t width = 0;
  std::int64_t precision = -1;
  char type = '\0';
};

TextRef number_field(const Machine& machine, const Value& value, Field field);
TextRef text_field(const Machine& machine, TextRef text, const Field& field);

// A float with `digits` decimals, rounded as Python does: to the nearest of the exact value.
std::string fixed_text(double number, int digits);

}  // namespace inlay::text::jinja
