// Python's two ways to put values into a pattern: "%s" % x and "{}".format(x).
#pragma once

#include "text/jinja_machine.hpp"

namespace inlay::text::jinja {

Value percent_format(const Machine& machine, const Value& pattern, const Value& values);
Value brace_format(const Machine& machine, const Value& pattern, const Arguments& arguments);

}  // namespace inlay::text::jinja
