// Undoes the spaces that word tokenizers put before punctuation and contractions.
#pragma once

#include <string>
#include <string_view>

namespace inlay::text {

std::string clean_spaces(std::string_view text);

}  // namespace inlay::text
