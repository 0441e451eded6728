// Python's two ways to put values into a pattern: "%s" % x and "{}".format(x).
#pragma once

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

Value percent_format(const Machine& machine, const Value& pattern, const Value& values);
Value brace_format(const Machine& machine, const Value& pattern, const Arguments& arguments);

// A float with `digits` decimals, rounded as Python does: to the nearest of the exact value.
std::string fixed_text(double number, int digits);

}  // namespace inlay::text::jinja
