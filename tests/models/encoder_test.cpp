// Proves: encoders' rows and pooled embeddings equal the original implementation's.
#include <cmath>

#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::Pooling;
using support::Golden;

Pooling pooling_of(const std::string& kind) {
  return kind == "mean_pooled" ? Pooling::mean : kind == "cls_pooled" ? Pooling::cls : Pooling::none;
}

double largest_difference(const inlay::Embeddings& got, const Golden::Block& block) {
  const auto columns = got.width, rows = block.values.size() / columns;
  double largest = 0;
  for (std::size_t row = 0; row < rows; ++row) {
    const auto from = block.kind == "token_embeddings" ? std::size_t(block.positions[row]) : row;
    for (std::size_t i = 0; i < columns; ++i) {
      const auto difference = std::abs(double(got[from][i]) - double(block.values[row * columns + i]));
      largest = std::isnan(difference) ? 1e30 : std::max(largest, difference);
    }
  }
  return largest;
}

TEST_CASE("encoders equal the original implementation on every instruction set") {
  for (const auto& golden : support::goldens("arch", "encoder"))
    for (const auto& isa : support::instruction_sets()) {
      const auto model = inlay::Model::load(golden.model, {.threads = 2, .isa = isa});
      for (const auto& block : golden.blocks) {
        INFO(golden.name << " " << block.sequence << " " << block.kind << " on " << isa);
        const auto got =
            model.embed(golden.sequences.at(block.sequence), {.pooling = pooling_of(block.kind), .normalize = false});
        CHECK(largest_difference(got, block) <= golden.abs_f32);
      }
      support::count("arch", 1);
    }
}

}  // namespace
