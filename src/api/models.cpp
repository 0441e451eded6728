// The list of architectures: one row each.
#include "api/models.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "inlay/models/llama.hpp"

namespace inlay::api {

namespace {

constexpr nn::Architecture architectures[] = {
    nn::architecture<models::Llama>(),
};

// Levenshtein's distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t(0));
  for (std::size_t i = 0; i < a.size(); ++i) {
    auto diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j)
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, diagonal + (a[i] != b[j])}));
  }
  return row.back();
}

}  // namespace

const nn::Architecture& find_architecture(std::string_view name, std::span<const nn::Architecture* const> own) {
  for (const auto* row : own)
    if (row->name == name) return *row;
  for (const auto& row : architectures)
    if (row.name == name) return row;
  constexpr std::size_t longest = 64;  // of a name that is worth comparing or repeating
  const auto shown = name.substr(0, longest);
  const auto nearest = std::min_element(std::begin(architectures), std::end(architectures), [&](const auto& a, const auto& b) {
    return distance(shown, a.name) < distance(shown, b.name);
  });
  throw Error(Errc::unsupported,
              "the architecture \"" + std::string(shown) + "\" is not known; the nearest known one is \"" + std::string(nearest->name) + "\"",
              Fault::unsupported, "general.architecture");
}

}  // namespace inlay::api
