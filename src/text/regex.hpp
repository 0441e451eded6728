// Regular expressions, in the part of ECMAScript's notation that describes a regular language.
#pragma once

#include <string>
#include <string_view>

#include "text/grammar_expression.hpp"

namespace inlay::text {

// What a pattern means: the whole text, or some part of it as in JSON Schema.
enum class Match { whole, search };

// Adds the pattern to `expressions`: the texts that match. Throws Error{argument} at what is wrong, or cannot be had:
// look-around, back references, word boundaries, anchors in the middle. `where` is put before the pattern's own place.
ExpressionId parse_regex(std::string_view pattern, Match match, Expressions& expressions, const std::string& where);

}  // namespace inlay::text
