// Proves: what one session has read spares others the same work, changes no bit, and never crosses a salt.
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::ReuseEnd;
using inlay::Sampler;
using inlay::TokenId;

std::vector<TokenId> text(std::size_t n, unsigned seed) {
  std::vector<TokenId> tokens(n);
  for (auto& token : tokens) token = TokenId(300 + (seed = seed * 1664525 + 1013904223) % 2000);
  return tokens;
}

std::vector<TokenId> joined(std::vector<TokenId> a, std::span<const TokenId> b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// Tokens and their log-probabilities, and what the prompt was spared.
struct Answer {
  std::vector<TokenId> tokens = {};
  std::vector<float> logprobs = {};
  inlay::Stats stats = {};
  bool operator==(const Answer& other) const { return tokens == other.tokens && logprobs == other.logprobs; }
};

Answer ask(inlay::Session& session, std::span<const TokenId> prompt, int n = 12) {
  Answer answer;
  auto reply = session.generate(prompt, Sampler::greedy(), {.tokens = n, .ignore_end = true});
  for (const auto& token : reply) answer.tokens.push_back(token.id), answer.logprobs.push_back(token.logprob);
  answer.stats = reply.stats();
  return answer;
}

Answer ask(const inlay::Model& model, std::span<const TokenId> prompt, const inlay::SessionOptions& options = {}) {
  auto session = model.session(options);
  return ask(session, prompt);
}

TEST_CASE("prompts that begin alike are read once, with the same bits as without reuse") {
  for (const int page : {1, 7, 32}) {
    const auto plain = support::load_nano({.page = page, .reuse_prefixes = false});
    const auto model = support::load_nano({.page = page});
    const auto beginning = text(100, 1);
    for (unsigned question = 2; question < 6; ++question) {
      const auto prompt = joined(beginning, text(8, question));
      const auto answer = ask(model, prompt), expected = ask(plain, prompt);
      CHECK(answer == expected);
      CHECK(expected.stats.reused_tokens == 0);
      CHECK(expected.stats.reuse_end == ReuseEnd::off);
      CHECK(answer.stats.reused_tokens == (question == 2 ? 0 : 100 / page * page));
      const int filled = (108 + 11) / page * page;  // by the first question and the tokens read of its answer
      CHECK(answer.stats.known_tokens == (question == 2 ? 0 : std::min(100, filled)));
      CHECK(answer.stats.reuse_end == (question == 2 || filled < 100 ? ReuseEnd::unknown : ReuseEnd::differs));
    }
  }
}

TEST_CASE("the same prompt again is read from its last page on, and one that goes further from where it ended") {
  const auto model = support::load_nano({.page = 16});
  const auto prompt = text(64, 1);
  auto session = model.session();
  const auto first = ask(session, prompt, 0);
  const auto again = ask(model, prompt);
  CHECK(again.stats.reused_tokens == 48);  // the last token is read for its logits
  CHECK(again.stats.reuse_end == ReuseEnd::whole);
  const auto longer = ask(model, joined(joined(prompt, again.tokens), text(30, 2)));
  CHECK(longer.stats.reused_tokens == 64);
  CHECK(longer.stats.reuse_end == ReuseEnd::unknown);
  CHECK(ask(model, text(5, 3)).stats.reuse_end == ReuseEnd::not_asked);
}

TEST_CASE("a rewound session and a fork find again what they had read") {
  const auto model = support::load_nano({.page = 8});
  const auto prompt = text(60, 1);
  const auto expected = ask(support::load_nano({.reuse_prefixes = false}), prompt);
  auto session = model.session();
  CHECK(ask(session, prompt) == expected);
  session.rewind(20);
  const auto rest = std::span(prompt).subspan(20);
  const auto again = ask(session, rest);
  CHECK(again == expected);
  CHECK(again.stats.prompt_tokens == 40);
  CHECK(again.stats.reused_tokens == 56 - 20);
  session.rewind(30);
  auto branch = session.fork();
  CHECK(ask(branch, text(30, 9)) ==
        ask(support::load_nano({.reuse_prefixes = false}), joined({prompt.begin(), prompt.begin() + 30}, text(30, 9))));
  CHECK(ask(session, std::span(prompt).subspan(30)) == expected);
}

TEST_CASE("sessions of different salts share nothing") {
  const auto model = support::load_nano({.page = 8});
  const auto prompt = text(40, 1);
  const auto one = ask(model, prompt, {.salt = "one"});
  const auto other = ask(model, prompt, {.salt = "two"});
  CHECK(other == one);
  CHECK(other.stats.reused_tokens == 0);
  CHECK(ask(model, prompt).stats.known_tokens == 0);
  CHECK(ask(model, prompt, {.salt = "one"}).stats.reused_tokens == 32);
}

TEST_CASE("wanted logits of known tokens are computed all the same") {
  const auto model = support::load_nano({.page = 8});
  const auto tokens = text(40, 1);
  const std::vector<int> wanted = {20, 39, 20};
  auto first = model.session(), second = model.session();
  const auto expected = first.evaluate(tokens, wanted);
  CHECK(second.evaluate(tokens, wanted) == expected);
  const auto third = model.session().evaluate(tokens);
  CHECK(std::equal(third.begin(), third.end(), expected.begin() + std::ptrdiff_t(third.size())));
}

TEST_CASE("what nobody uses gives way before a session fails, and trim gives it back") {
  // Room for about 3,400 tokens; each of the sessions reads 1,500.
  const auto model = support::load_nano({.context = 2048, .cache_bytes = std::size_t(10) << 20, .page = 8});
  std::vector<TokenId> longest = text(1500, 1);
  const auto expected = ask(model, longest);
  for (unsigned other = 2; other < 8; ++other) CHECK_NOTHROW(ask(model, text(1500, other)));
  const auto again = ask(model, longest);
  CHECK(again == expected);
  CHECK(again.stats.reused_tokens < 1500 - 8);
  CHECK(ask(model, longest).stats.reused_tokens >= 1488);
  model.trim();
  CHECK(ask(model, longest).stats.reused_tokens == 0);
}

TEST_CASE("recurrent models go on from the last state that was kept, with the same bits") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"mamba", "mamba2_b", "jamba", "lfm2", "qwen3_next"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      INFO(name);
      const auto load = [&](bool reuse) {
        return inlay::Model::load(file.string(), {.threads = 1, .page = 4, .reuse_prefixes = reuse});
      };
      const auto model = load(true), plain = load(false);
      std::vector<TokenId> prompt;
      for (int i = 0; i < 30; ++i) prompt.push_back(1 + i * 7 % 13);
      const auto expected = ask(plain, prompt);
      auto session = model.session();
      CHECK(ask(session, prompt) == expected);
      const auto again = ask(model, prompt);
      CHECK(again == expected);
      CHECK(again.stats.reused_tokens == 28);
      session.rewind(30);  // to the prompt's end: only its last page is read again
      auto reply = session.generate(std::span<const TokenId>(), Sampler::greedy(), {.tokens = 3, .ignore_end = true});
      std::vector<TokenId> made;
      for (const auto& token : reply) made.push_back(token.id);
      CHECK(std::equal(made.begin(), made.end(), expected.tokens.begin()));
      const auto shorter = std::span(prompt).first(20);
      const auto cut = ask(model, shorter);
      CHECK(cut == ask(plain, shorter));
      CHECK(cut.stats.reused_tokens == 0);
      CHECK(cut.stats.reuse_end == ReuseEnd::no_state);
      CHECK(ask(model, joined({shorter.begin(), shorter.end()}, std::vector<TokenId>{1, 2, 3})).stats.reused_tokens ==
            20);
    }
}

}  // namespace
