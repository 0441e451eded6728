// The named formats of strings that a grammar can express.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace inlay::text {

// A regular expression that the whole string must match; none for a format that is not known.
std::optional<std::string> format_pattern(std::string_view format);

// The same for a part of what a format allows, where that is all that a grammar can tell.
std::optional<std::string> narrow_format_pattern(std::string_view format);

}  // namespace inlay::text
