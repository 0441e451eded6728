// The source of a template into its syntax tree, with a counted depth.
#pragma once

#include <string_view>

#include "text/jinja_ast.hpp"

namespace inlay::text::jinja {

// The tree lives in `arena` and refers to `source`, which must outlive it. Throws Error with line and column.
Syntax parse(Arena& arena, std::string_view source);

}  // namespace inlay::text::jinja
