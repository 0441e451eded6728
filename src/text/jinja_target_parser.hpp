// Parses what is given a value: the names of loops, `set` and `with`, and the parameters of macros.
#pragma once

#include "text/jinja_expression_parser.hpp"

namespace inlay::text::jinja {

class TargetParser : protected ExpressionParser {
 protected:
  using ExpressionParser::ExpressionParser;

  Target target(bool with_attribute, bool with_tuple = true);
  void signature(Macro& macro);

 private:
  Target single_target(bool with_attribute);
};

}  // namespace inlay::text::jinja
