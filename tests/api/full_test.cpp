// Proves: dropping tokens moves the rest as if it had stood there from the beginning, as far as that can be exact.
#include <cmath>
#include <cstring>

#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::CacheType;
using inlay::Sampler;
using inlay::TokenId;
using inlay::WhenFull;

// Keys and values of the first layer, which depend on tokens and positions alone.
std::vector<float> first_layer(const inlay::Session& session, const inlay::Model& model) {
  constexpr std::size_t header = 48, checksum = 8;
  const auto saved = session.save();
  const auto ids = session.tokens().size() * sizeof(TokenId);
  std::vector<float> rows((saved.size() - header - checksum - ids) / sizeof(float) / std::size_t(model.info().layers));
  std::memcpy(rows.data(), saved.data() + header + ids, rows.size() * sizeof(float));
  return rows;
}

TEST_CASE("keys that move are rotated to where they then stand") {
  const std::vector<TokenId> tokens = {1, 5, 9, 2, 7, 7, 3, 11, 4, 6, 8, 12, 10, 1, 2};
  std::size_t tried = 0;
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"llama", "llama_rope_linear", "llama_rope_llama3", "llama_rope_yarn", "mistral", "qwen3",
                             "phi2", "gpt_neox", "glm4", "mpt"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      INFO(name);
      const auto model = inlay::Model::load(
          file.string(), {.threads = 1, .keys = CacheType::f32, .values = CacheType::f32, .page = 4});
      auto shifted = model.session(), fresh = model.session();
      shifted.evaluate(tokens);
      shifted.drop(3, 6);
      std::vector<TokenId> rest(tokens.begin(), tokens.begin() + 3);
      rest.insert(rest.end(), tokens.begin() + 9, tokens.end());
      fresh.evaluate(rest);
      REQUIRE(std::equal(rest.begin(), rest.end(), shifted.tokens().begin(), shifted.tokens().end()));
      const auto is = first_layer(shifted, model), should = first_layer(fresh, model);
      REQUIRE(is.size() == should.size());
      for (std::size_t i = 0; i < is.size(); ++i)
        if (!(std::abs(is[i] - should[i]) <= 1e-5f * (1 + std::abs(should[i])))) FAIL(is[i] << " is not " << should[i]);
      ++tried;
    }
  CHECK(tried >= 4);
}

TEST_CASE("models whose cache knows positions otherwise refuse to drop") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"gpt2", "mamba2_b", "jamba", "deepseek_v3", "llama4"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      INFO(name);
      const auto model = inlay::Model::load(file.string(), {.threads = 1});
      auto session = model.session();
      session.evaluate(std::vector<TokenId>{1, 2, 3, 4});
      const auto before = session.save();
      CHECK_THROWS_AS(session.drop(1, 1), inlay::Error);
      CHECK(session.save() == before);
      CHECK_THROWS_AS(model.session({.when_full = WhenFull::drop}), inlay::Error);
    }
}

TEST_CASE("a generation goes on by dropping half of what is not kept, and says so") {
  const auto model = support::load_nano({.context = 64, .page = 8});
  auto session = model.session({.when_full = WhenFull::drop, .keep = 5});
  auto by_hand = model.session();
  auto reply = session.generate("Once upon a time", Sampler::greedy(), {.tokens = 150, .ignore_end = true});
  const std::vector<TokenId> prompt(session.tokens().begin(), session.tokens().end());
  std::vector<TokenId> made, expected;
  for (const auto& token : reply) made.push_back(token.id);
  CHECK(reply.finish() == inlay::Finish::token_limit);
  int dropped = 0;
  std::span<const TokenId> next = prompt;
  while (expected.size() < 150) {
    auto part = by_hand.generate(next, Sampler::greedy(), {.tokens = 150 - int(expected.size()), .ignore_end = true});
    for (const auto& token : part) expected.push_back(token.id);
    if (expected.size() == 150) break;
    REQUIRE(part.finish() == inlay::Finish::context_full);
    by_hand.drop(5, (64 - 5) / 2);
    dropped += (64 - 5) / 2;
    next = {};
  }
  CHECK(made == expected);
  CHECK(reply.stats().dropped_tokens == dropped);
  CHECK(dropped > 0);
  CHECK(std::equal(prompt.begin(), prompt.begin() + 5, session.tokens().begin()));
  CHECK_THROWS_AS(model.session({.when_full = WhenFull::drop, .keep = 63}), inlay::Error);
}

TEST_CASE("a few tokens dropped at a time are a window that slides behind the kept ones") {
  const auto model = support::load_nano({.context = 40, .page = 8});
  auto session = model.session({.when_full = WhenFull::drop, .keep = 4, .drop = 3}), by_hand = model.session();
  auto reply = session.generate("Once upon a time", Sampler::greedy(), {.tokens = 60, .ignore_end = true});
  std::vector<TokenId> made, expected;
  const std::vector<TokenId> prompt(session.tokens().begin(), session.tokens().end());
  for (const auto& token : reply) made.push_back(token.id);
  std::span<const TokenId> next = prompt;
  while (expected.size() < 60) {
    auto part = by_hand.generate(next, Sampler::greedy(), {.tokens = 60 - int(expected.size()), .ignore_end = true});
    for (const auto& token : part) expected.push_back(token.id);
    if (expected.size() < 60) by_hand.drop(4, 3);
    next = {};
  }
  CHECK(made == expected);
  CHECK(reply.stats().dropped_tokens == int(prompt.size() + 60 - session.tokens().size()));
  CHECK_THROWS_AS(model.session({.when_full = WhenFull::drop, .drop = -1}), inlay::Error);
}

TEST_CASE("a drop that finds no memory changes nothing, and one that makes no sense is refused") {
  const auto model = support::load_nano({.cache_bytes = std::size_t(1) << 20, .page = 32});  // 10 pages
  auto session = model.session();
  session.evaluate(std::vector<TokenId>(200, 300));
  const auto before = session.save();
  CHECK_THROWS_AS(session.drop(10, 5), inlay::Error);
  CHECK(session.save() == before);
  CHECK_THROWS_AS(session.drop(190, 11), inlay::Error);
  CHECK_THROWS_AS(session.drop(201, 0), inlay::Error);
}

}  // namespace
