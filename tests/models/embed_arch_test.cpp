// Proves: what a decoder embeds is what the original makes its logits of, with every architecture.
#include <cmath>

#include "gguf/dequantize.hpp"
#include "inlay/gguf.hpp"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::Pooling;
using Values = std::vector<float>;

// What a file's head makes of a row: cap * tanh(scale * matrix * row + bias). Each family has a rule of its own for the
// scale, so here it is the one that fits the original's logits of one row best; then it must fit them all.
struct Head {
  Values matrix, bias;
  double cap;

  explicit Head(const inlay::gguf::File& file)
      : matrix(numbers(file, file.tensor("output.weight") ? "output.weight" : "token_embd.weight")),
        bias(numbers(file, "output.bias")),
        cap(cap_of(file, std::string(file.text("general.architecture")))) {}

  static double cap_of(const inlay::gguf::File& file, const std::string& architecture) {
    return file.real(architecture + ".final_logit_softcapping", architecture == "gemma3n" ? 30 : 0);
  }

  static Values numbers(const inlay::gguf::File& file, std::string_view name) {
    const auto* tensor = file.tensor(name);
    if (!tensor) return {};
    std::size_t count = 1;
    for (const auto n : tensor->shape) count *= std::size_t(n);
    Values values(count);
    inlay::gguf::dequantize(inlay::gguf::Type(tensor->type), tensor->data.data(), values.data(), count);
    return values;
  }

  double product(std::span<const float> row, std::size_t token) const {
    double sum = 0;
    for (std::size_t k = 0; k < row.size(); ++k) sum += double(matrix[token * row.size() + k]) * double(row[k]);
    return sum;
  }
  double biased(std::size_t token) const { return bias.empty() ? 0 : double(bias[token]); }

  double scale_for(std::span<const float> row, std::span<const float> logits) const {
    double both = 0, square = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double p = product(row, i), logit = double(logits[i]);
      both += p * ((cap > 0 ? cap * std::atanh(logit / cap) : logit) - biased(i)), square += p * p;
    }
    return both / square;
  }
  double off_by(std::span<const float> row, std::span<const float> logits, double scale) const {
    double most = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      const double plain = scale * product(row, i) + biased(i);
      most = std::max(most, std::abs((cap > 0 ? cap * std::tanh(plain / cap) : plain) - double(logits[i])));
    }
    return most;
  }
};

TEST_CASE("the head makes the original's logits of what is embedded, with every architecture") {
  for (const auto& golden : support::goldens("arch", "causal")) {
    if (golden.name == "gpt_oss_trunc") continue;  // as in golden_test
    const Head head(inlay::gguf::File::open(golden.model));
    inlay::LoadOptions options{.threads = 2, .context = golden.context ? 256 : 0};
    options.keys = options.values = inlay::CacheType::f32;
    const auto model = inlay::Model::load(golden.model, options);
    for (const auto& block : golden.blocks) {
      if (block.sequence != "s17") continue;
      const auto rows = model.embed(golden.sequences.at("s17"), {.pooling = Pooling::none, .normalize = false});
      const auto width = block.values.size() / block.positions.size();
      const auto logits = [&](std::size_t i) { return std::span(block.values).subspan(i * width, width); };
      const double scale = head.scale_for(rows[std::size_t(block.positions[0])], logits(0));
      double most = 0;
      for (std::size_t i = 0; i < block.positions.size(); ++i)
        most = std::max(most, head.off_by(rows[std::size_t(block.positions[i])], logits(i), scale));
      INFO(golden.name << ", scaled by " << scale);
      // A row may be off by as much as logits may, and the scale, which is fitted to such a row, by as much again.
      CHECK(most <= 2 * golden.abs_f32);
      support::count("embed-arch", 1);
    }
  }
}

}  // namespace
