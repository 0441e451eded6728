// Proves: models whose attention reads chosen keys compute the same bits in pieces, in forks, behind rewinds, beside
// others and from saved sessions, and the same without a choice where contexts are short enough to be read whole.
#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::TokenId;

const char* const names[] = {"deepseek32", "glm_dsa", "dots3note", "minimax_m3"};
constexpr std::size_t length = 90;  // their indexers choose 24 keys

inlay::Model load(const std::string& name, inlay::LoadOptions options = {.threads = 1}) {
  options.reuse_prefixes = options.page == 32;
  return inlay::Model::load((support::data() / "arch" / (name + ".gguf")).string(), options);
}

std::vector<TokenId> text(std::size_t n, int seed = 1) {
  std::vector<TokenId> tokens;
  for (std::size_t i = 0; i < n; ++i) tokens.push_back(TokenId(3 + (i * i * 7 + i * std::size_t(seed)) % 61));
  return tokens;
}

// The logits of the last token, read in pieces.
std::vector<float> last(inlay::Session& session, std::span<const TokenId> tokens, std::size_t piece = length) {
  std::vector<float> logits;
  for (std::size_t i = 0; i < tokens.size(); i += piece)
    logits = session.evaluate(tokens.subspan(i, std::min(piece, tokens.size() - i)));
  return logits;
}

}  // namespace

TEST_CASE("pieces of any size, pages and threads give the bits of the whole") {
  const auto tokens = text(length);
  for (const std::string name : names) {
    INFO(name);
    const auto model = load(name), other = load(name, {.threads = 3, .page = 5});
    auto whole = model.session();
    const auto expected = last(whole, tokens);
    for (const std::size_t piece : {1, 7, 24, 60}) {
      auto session = model.session(), beside = other.session();
      CHECK(last(session, tokens, piece) == expected);
      CHECK(last(beside, tokens, piece) == expected);
    }
  }
}

TEST_CASE("forks, rewinds, shared prefixes and saved sessions go on with the same bits") {
  const auto tokens = text(length), other = text(length, 5);
  for (const std::string name : names) {
    INFO(name);
    const auto model = load(name);
    auto session = model.session();
    const auto expected = last(session, tokens);
    auto fork = session.fork();
    fork.rewind(40);
    (void)last(fork, std::span(other).subspan(40));
    fork.rewind(40);
    CHECK(last(fork, std::span(tokens).subspan(40)) == expected);
    auto again = model.session();  // takes over what the tree of prefixes knows
    CHECK(last(again, tokens) == expected);
    auto restored = model.restore(session.save());
    restored.rewind(70);
    CHECK(last(restored, std::span(tokens).subspan(70)) == expected);
  }
}

TEST_CASE("contexts that are read whole need no indexer, and give the bits of those that choose") {
  const auto tokens = text(24);
  for (const std::string name : names) {
    INFO(name);
    const auto model = load(name), short_one = load(name, {.threads = 1, .context = 24});
    auto chooses = model.session(), reads_all = short_one.session();
    CHECK(last(chooses, tokens) == last(reads_all, tokens));
  }
}

TEST_CASE("chosen keys are not moved") {
  for (const std::string name : names) {
    INFO(name);
    const auto model = load(name);
    auto session = model.session();
    (void)last(session, text(length));
    CHECK_THROWS_AS(session.drop(4, 8), inlay::Error);
  }
}
