// Small letters to capitals: the table of capitals, read backwards.
#include <algorithm>
#include <iterator>

#include "text/jinja_strings.hpp"
#include "text/unicode_tables.hpp"

namespace inlay::text::jinja {

char32_t upper_case(char32_t letter) {
  if (letter < 0x80) return letter >= 'a' && letter <= 'z' ? letter - 32 : letter;
  switch (letter) {  // small letters whose capital is that of another
    case 0x131: return 'I';
    case 0x17F: return 'S';
    case 0xB5: return 0x39C;
    case 0x3C2: return 0x3A3;
    default: break;
  }
  // Where several capitals share a small letter, the first is the usual one.
  const auto capital_in = [&](const Capitals& run) {
    return static_cast<char32_t>(static_cast<std::int32_t>(letter) - run.distance);
  };
  const auto* const run = std::find_if(std::begin(capitals), std::end(capitals), [&](const Capitals& each) {
    const char32_t capital = capital_in(each);
    return capital >= each.first && capital <= each.last &&
           (capital - each.first) % static_cast<char32_t>(each.step) == 0;
  });
  return run == std::end(capitals) ? letter : capital_in(*run);
}

}  // namespace inlay::text::jinja
