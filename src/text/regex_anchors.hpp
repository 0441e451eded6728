// The anchors of a pattern, turned into what may stand before and after a match.
#pragma once

#include <string>

#include "text/regex.hpp"

namespace inlay::text {

// The same language without anchors. Where a match is searched for, any text goes before and after what has none.
ExpressionId resolve_anchors(ExpressionId id, Match match, Expressions& expressions, const std::string& where);

}  // namespace inlay::text
