#include "text/clean_spaces.hpp"

#include "text/vocabulary.hpp"

namespace inlay::text {

// Three passes, each over what the one before left: the order matters for texts such as "it ' s ."
std::string clean_spaces(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    const bool dropped =
        rest.starts_with(" ?") || rest.starts_with(" !") || rest.starts_with(" .") || rest.starts_with(" ,");
    if (!dropped) out += text[i];
  }
  out = replaced(out, " ' ", "'");
  for (const std::string_view contraction : {"'s", "'m", "'re", "'ve"})
    out = replaced(out, " " + std::string(contraction), contraction);
  return out;
}

}  // namespace inlay::text
