// Proves: the steps that look at texts see them: dry stops at breakers, infill joins tokens that begin alike.
#include <filesystem>

#include "inlay/gguf.hpp"
#include "tests/runtime/distribution.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using namespace distribution;
using inlay::SamplerStep;
using inlay::text::Tokenizer;

std::shared_ptr<const Tokenizer> nano() {
  const auto path = support::data().parent_path().parent_path() / "examples/models/inlay-nano-q8_0.gguf";
  return Tokenizer::from(inlay::gguf::File::open(path.string()));
}

TokenId only(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text, {});
  REQUIRE(ids.size() == 1);
  return ids[0];
}

TEST_CASE("dry looks for no repetition over a breaker") {
  const auto tokenizer = nano();
  const TokenId a = only(*tokenizer, " a"), b = only(*tokenizer, " the"), c = only(*tokenizer, " and"),
                line = only(*tokenizer, "\n");
  auto recipe = plain();
  recipe.dry_multiplier = 3;
  const std::vector<float> logits(std::size_t(tokenizer->size()), 0);
  const auto penalised = [&](const std::vector<TokenId>& past, TokenId id) {
    Sampling sampling(recipe, 1, tokenizer.get());
    const auto left = left_by(sampling, logits, {}, past);
    return left.at(id) < 0.5 * left.at(0);
  };
  CHECK(penalised({a, b, c, a, b}, c));
  CHECK_FALSE(penalised({a, b, c, a, line, b}, c));  // one token stands behind the breaker
  CHECK_FALSE(penalised({a, b, line, a, b}, line));  // a breaker itself is never penalised
  const TokenId letter = only(*tokenizer, "a");
  recipe.dry_breakers = {" the and"};  // of two tokens, the second of which has been said again
  CHECK_FALSE(penalised({c, a, letter, b, c, a}, letter));
  recipe.dry_breakers.clear();
  CHECK(penalised({c, a, letter, b, c, a}, letter));
  CHECK(penalised({a, line, c, a, line}, c));
}

TEST_CASE("infill ends the text where that is likely, and else joins tokens that begin alike") {
  const auto tokenizer = nano();
  const TokenId beginning = only(*tokenizer, " th"), longer = only(*tokenizer, " the"),
                other = only(*tokenizer, " and"), unlikely = only(*tokenizer, "\n"), end = tokenizer->eos();
  REQUIRE(tokenizer->ends_generation(end));
  auto recipe = plain();
  recipe.top_k = 7, recipe.order = {SamplerStep::top_k, SamplerStep::infill};
  const auto left = [&](std::map<TokenId, double> p) {
    std::vector<float> logits(std::size_t(tokenizer->size()), -INFINITY);
    for (const auto& [id, probability] : p) logits[std::size_t(id)] = float(std::log(probability));
    Sampling sampling(recipe, 1, tokenizer.get());
    return left_by(sampling, logits);
  };
  // 3 * P(end) * 7 > P(text)
  check_equal(left({{beginning, 0.3}, {longer, 0.2}, {other, 0.3}, {unlikely, 0.1}, {end, 0.1}}), {{end, 1.0}});
  // " th" takes over " the"; "\n" falls below 0.2; the second cut is at 1/3.
  const double all = 0.55 + 0.34 + 0.01;
  check_equal(left({{beginning, 0.35}, {longer, 0.2}, {other, 0.34}, {unlikely, 0.1}, {end, 0.01}}),
              {{beginning, 0.55 / all}, {other, 0.34 / all}, {end, 0.01 / all}});
  // Nothing is clear.
  std::map<TokenId, double> unclear = {{end, 0.001}};
  for (const std::string_view text : {"a", "b", "c", "d", "e", "f"}) unclear[only(*tokenizer, text)] = 0.1665;
  const auto none = left(unclear);
  CHECK(none.size() == 1);
}

}  // namespace
