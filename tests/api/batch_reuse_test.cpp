// Proves: requests of a batch that begin alike read their beginning once, as a plain list of all pages says, and say
// the same bits as without; tenants share nothing.
#include <filesystem>
#include <map>
#include <random>
#include <set>

#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Batch;
using inlay::Sampler;
using inlay::TokenId;
using support::Ask;
using Tokens = std::vector<TokenId>;

Tokens text(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  Tokens tokens(n);
  for (auto& token : tokens) token = TokenId(300 + random() % 2000);
  return tokens;
}

Tokens joined(Tokens a, const Tokens& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

std::vector<Tokens> questions(const Tokens& beginning, std::size_t count, std::size_t length = 8) {
  std::vector<Tokens> prompts;
  for (unsigned i = 0; i < count; ++i) prompts.push_back(joined(beginning, text(length, 100 + i)));
  return prompts;
}

// Prompt tokens to compute where every page of a beginning is computed once: a page is the list of tokens up to its
// end. The rest of a prompt, at least its last token, is always computed. No prompt ends with a page.
std::size_t oracle(const std::vector<Tokens>& prompts, std::size_t page) {
  std::set<Tokens> pages;
  std::size_t computed = 0;
  for (const auto& prompt : prompts) {
    std::size_t end = page;
    for (; end < prompt.size(); end += page)
      if (pages.insert(Tokens(prompt.begin(), prompt.begin() + std::ptrdiff_t(end))).second) computed += page;
    computed += prompt.size() - (end - page);
  }
  return computed;
}

struct Run {
  std::size_t computed = 0;
  std::vector<Batch::Id> order = {};  // of the first tokens
};

Run run(const inlay::Model& model, const std::vector<Tokens>& prompts, const Batch::Options& options,
        const std::vector<std::string>& salts = {""}) {
  Run run;
  std::vector<inlay::Session> sessions;
  Batch batch(model, options);
  for (const auto& prompt : prompts) {
    sessions.push_back(model.session({.salt = salts[sessions.size() % salts.size()]}));
    batch.submit(sessions.back(), prompt, Sampler::greedy(), {.tokens = 2, .ignore_end = true});
  }
  for (const auto& event : batch) {
    REQUIRE(event.error.empty());
    if (event.finish == inlay::Finish::running) {
      run.computed += std::size_t(event.stats.prompt_tokens - event.stats.reused_tokens);
      run.order.push_back(event.id);
    }
  }
  CHECK(run.order.size() == prompts.size());
  return run;
}

TEST_CASE("a beginning of a thousand tokens that 32 requests share is read once") {
  const auto prompts = questions(text(1000, 1), 32);
  for (const auto& options : {Batch::Options{}, {.tokens_per_step = 100}, {.sessions_at_once = 3}}) {
    const auto model = support::load_nano({.context = 2048});
    CHECK(run(model, prompts, options).computed == oracle(prompts, 32));
    CHECK(oracle(prompts, 32) == 1008 + 31 * 16);
    CHECK(run(model, prompts, options).computed == 32 * 16);  // known from before
  }
  const auto plain = support::load_nano({.context = 2048, .reuse_prefixes = false});
  CHECK(run(plain, {prompts.begin(), prompts.begin() + 4}, {}).computed == 4 * 1008);
}

TEST_CASE("those that waited for the first reader of a beginning write one step after it") {
  const auto model = support::load_nano({.context = 2048});
  const auto prompts = questions(text(1000, 1), 32);
  std::vector<inlay::Session> sessions;
  Batch batch(model, {.steps_of_delay = 0});
  for (const auto& prompt : prompts)
    batch.submit(sessions.emplace_back(model.session()), prompt, Sampler::greedy(), {.tokens = 4, .ignore_end = true});
  std::map<Batch::Id, int> written;
  for (const auto& event : batch) {
    ++written[event.id];
    if (written.size() == prompts.size()) break;
  }
  CHECK(written.size() == prompts.size());
  CHECK(written[1] == 2);
}

TEST_CASE("whatever requests have in common, every page is computed once") {
  for (unsigned seed = 1; seed < 7; ++seed) {
    std::mt19937 random(seed);
    const auto page = int(2 + random() % 11);
    std::vector<Tokens> prompts;
    while (prompts.size() < 24) {  // branches of those before
      auto prompt = prompts.empty() ? Tokens() : prompts[random() % prompts.size()];
      prompt.resize(random() % (prompt.size() + 1));
      prompt = joined(prompt, text(1 + random() % 60, unsigned(random())));
      if (prompt.size() % std::size_t(page) == 0) prompt.push_back(299);
      prompts.push_back(prompt);
    }
    const auto model = support::load_nano({.page = page});
    const Batch::Options options{.tokens_per_step = int(8 + random() % 100),
                                 .sessions_at_once = int(1 + random() % 30)};
    INFO("seed " << seed << ", page " << page);
    CHECK(run(model, prompts, options).computed == oracle(prompts, std::size_t(page)));
  }
}

TEST_CASE("the longest beginning that is known is admitted first") {
  const auto model = support::load_nano();
  auto session = model.session();
  session.evaluate(text(100, 7));
  const auto prompts = std::vector{text(90, 1), text(100, 7), joined(text(50, 7), text(50, 8))};
  CHECK(run(model, prompts, {.sessions_at_once = 1}).order == std::vector<Batch::Id>{2, 3, 1});
}

TEST_CASE("tenants share nothing in a batch") {
  const auto prompts = questions(text(100, 1), 6);
  const auto model = support::load_nano({.page = 8});
  const auto a = std::vector{prompts[0], prompts[2], prompts[4]}, b = std::vector{prompts[1], prompts[3], prompts[5]};
  CHECK(run(model, prompts, {}, {"a", "b"}).computed == oracle(a, 8) + oracle(b, 8));
  CHECK(run(model, prompts, {}).computed == oracle(prompts, 8));
}

TEST_CASE("requests that share their beginning say the same bits as alone, where nothing is shared") {
  const auto plain = support::load_nano({.reuse_prefixes = false});
  std::vector<Ask> asks;
  for (const auto& prompt : questions(text(90, 1), 5))
    asks.push_back({prompt, {.seed = asks.size()}, {.tokens = 6, .top_logprobs = 2, .ignore_end = true}});
  asks.push_back({text(90, 1), Sampler::greedy(), {.tokens = 4, .ignore_end = true}});
  std::vector<support::Said> expected;
  for (const auto& ask : asks) expected.push_back(support::say_alone(plain, ask));
  for (const int page : {1, 7, 32})
    for (const auto& [tokens, sessions] : {std::pair(5, 3), {37, 64}, {512, 2}, {512, 64}}) {
      INFO("page " << page << ", " << tokens << " tokens a step, " << sessions << " sessions");
      const auto model = support::load_nano({.page = page});
      for (int times = 0; times < 2; ++times)
        CHECK(support::say_together(model, asks, {.tokens_per_step = tokens, .sessions_at_once = sessions}) ==
              expected);
    }
}

TEST_CASE("recurrent models stop where others go on from the state, with the same bits") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"mamba", "mamba2_b", "jamba", "lfm2", "qwen3_next"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      INFO(name);
      const auto load = [&](bool reuse) {
        return inlay::Model::load(file.string(), {.threads = 1, .page = 4, .reuse_prefixes = reuse});
      };
      Tokens beginning;
      for (int i = 0; i < 30; ++i) beginning.push_back(1 + i * 7 % 13);
      std::vector<Tokens> prompts;
      std::vector<Ask> asks;
      for (TokenId i = 1; i <= 5; ++i) {
        prompts.push_back(joined(beginning, {i, i, 3, i, 5, i, 7}));
        asks.push_back({prompts.back(), Sampler::greedy(), {.tokens = 4, .ignore_end = true}});
      }
      std::vector<support::Said> expected;
      for (const auto& ask : asks) expected.push_back(support::say_alone(load(false), ask));
      for (const int tokens : {3, 16, 512}) {
        CHECK(support::say_together(load(true), asks, {.tokens_per_step = tokens}) == expected);
        CHECK(run(load(true), prompts, {.tokens_per_step = tokens}).computed == oracle(prompts, 4));
      }
    }
}

}  // namespace
