// A time as text, in English.
#pragma once

#include <ctime>
#include <string>
#include <string_view>

namespace inlay::text::jinja {

// strftime() in the C locale, whatever the host's is; %-d is without leading zeros. The month must be from 0 to 11.
std::string formatted_time(const std::tm& time, std::string_view format);

}  // namespace inlay::text::jinja
