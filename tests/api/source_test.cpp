// Proves: sessions of encoder-decoders are saved, wait on disk and share batches as others do.
#include <cstring>
#include <filesystem>
#include <optional>

#include "base/checksum.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"
#include "tests/support/mutations.hpp"

namespace {

using inlay::Batch;
using inlay::Sampler;
using inlay::TokenId;
using support::Said;

std::string file() { return (support::data() / "arch" / "t5_written.gguf").string(); }
inlay::Model load(inlay::LoadOptions options = {}) {
  options.threads = options.threads == 0 ? 2 : options.threads;
  return inlay::Model::load(file(), options);
}

std::vector<TokenId> source(std::size_t n, TokenId first) {
  std::vector<TokenId> tokens(n);
  for (std::size_t i = 0; i < n; ++i) tokens[i] = 3 + TokenId((std::size_t(first) * 31 + i * i * 7) % 60);
  return tokens;
}
const std::span<const TokenId> nothing;

inlay::Limits few(int tokens = 6) { return {.tokens = tokens, .ignore_end = true}; }

Said say(inlay::Session& session, std::span<const TokenId> prompt) {
  Said said;
  auto reply = session.generate(prompt, support::hashing({.seed = 5}, said.logits), few());
  for (const auto& token : reply) support::add(said, token);
  return said;
}

TEST_CASE("a saved session knows its source, at any page size") {
  const auto model = load();
  auto session = model.session();
  (void)say(session, source(70, 1));
  const auto saved = session.save();
  const auto expected = say(session, {});
  for (const int page : {1, 5, 64}) {
    const auto other = load({.page = page});
    auto restored = other.restore(saved);
    CHECK(restored.save() == saved);
    auto branch = restored.fork();
    CHECK(say(restored, {}) == expected);
    CHECK(say(branch, {}) == expected);
    restored.rewind(1);
    session.rewind(1);
    CHECK(say(restored, {}) == say(session, {}));
  }
  auto empty = model.restore(model.session().save());
  CHECK(empty.tokens().empty());
  // Another type of the cache is converted.
  auto wider = load({.keys = inlay::CacheType::f32, .values = inlay::CacheType::f32}).restore(saved);
  CHECK(wider.evaluate(std::vector<TokenId>{4}).size() == std::size_t(model.info().vocabulary));
}

TEST_CASE("every damaged copy of a session with a source is refused, also where its checksum is right") {
  const auto model = load();
  auto session = model.session();
  (void)say(session, source(20, 1));
  const auto saved = session.save();
  std::size_t refused = 0;
  const auto refuse = [&](const std::vector<std::byte>& damaged) {
    try {
      (void)model.restore(damaged);
      return false;
    } catch (const inlay::Error& error) {
      return error.code() == inlay::Errc::format;
    }
  };
  support::each_mutation(saved, 100, [&](const std::string& name, const std::vector<std::byte>& damaged) {
    INFO(name);
    CHECK(refuse(damaged));
    ++refused;
  });
  CHECK(refused > 500);
  const auto forged = [&](std::size_t offset, std::uint32_t value) {
    auto copy = saved;
    std::memcpy(copy.data() + offset, &value, sizeof(value));
    inlay::base::Checksum sum;
    sum.add(std::span(copy).first(copy.size() - 8));
    const auto right = sum.value();
    std::memcpy(copy.data() + copy.size() - 8, &right, sizeof(right));
    return copy;
  };
  CHECK_NOTHROW(model.restore(forged(8, 2)));  // as it was
  CHECK(refuse(forged(8, 1)));
  CHECK(refuse(forged(8, 3)));
  CHECK(refuse(forged(48, 0)));
  CHECK(refuse(forged(48, 21)));
  CHECK(refuse(forged(52, 1)));
  CHECK(refuse(forged(56, 1u << 30)));
}

TEST_CASE("requests with sources say in a batch what they say alone, however many there are") {
  const auto model = load();
  std::vector<support::Ask> asks;
  for (TokenId i = 0; i < 9; ++i)
    asks.push_back({source(5 + 13 * std::size_t(i), i), {.seed = std::uint64_t(i)}, few(4 + i % 5)});
  std::vector<Said> expected;
  for (const auto& ask : asks) expected.push_back(support::say_alone(model, ask));
  for (const int at_once : {1, 3, 64})
    CHECK(support::say_together(model, asks, {.sessions_at_once = at_once}) == expected);
  // Pages for two of the longest: the others wait until sessions are gone.
  const auto page = std::size_t(inlay::Model::plan(file(), {.page = 8}).page);
  const auto small = load({.cache_bytes = 36 * page, .page = 8});
  std::vector<Said> said(asks.size());
  std::vector<std::optional<inlay::Session>> sessions;
  Batch batch(small);
  for (std::size_t i = 0; i < asks.size(); ++i) {
    auto& session = *sessions.emplace_back(small.session());
    batch.submit(session, asks[i].prompt, support::hashing(asks[i].sampler, said[i].logits), asks[i].limits);
  }
  for (const auto& event : batch) {
    CHECK(event.error.empty());
    support::add(said[event.id - 1], event);
    if (event.finish != inlay::Finish::running) sessions[event.id - 1].reset();
  }
  CHECK(said == expected);
}

TEST_CASE("a request begins its session anew, goes on where its prompt is empty, and leaves it where it is cancelled") {
  const auto model = load();
  auto session = model.session(), alone = model.session(), other = model.session();
  const auto run = [&](std::span<const TokenId> prompt, int cancel_after = -1) {
    Batch batch(model);
    const auto id = batch.submit(session, prompt, Sampler::greedy(), few());
    if (cancel_after == 0) batch.cancel(id);
    std::vector<TokenId> made;
    for (const auto& event : batch)
      if (event.token.id >= 0) made.push_back(event.token.id);
    return made;
  };
  const auto generate = [&](inlay::Session& with, std::span<const TokenId> prompt) {
    std::vector<TokenId> made;
    auto reply = with.generate(prompt, Sampler::greedy(), few());
    for (const auto& token : reply) made.push_back(token.id);
    return made;
  };
  CHECK(run(source(30, 1)) == generate(alone, source(30, 1)));
  CHECK(run({}) == generate(alone, {}));
  const std::vector<TokenId> before(session.tokens().begin(), session.tokens().end());
  CHECK(run(source(40, 2), 0).empty());
  CHECK(std::equal(before.begin(), before.end(), session.tokens().begin(), session.tokens().end()));
  CHECK(run({}) == generate(alone, {}));
  CHECK(run(source(40, 3)) == generate(other, source(40, 3)));
  Batch batch(model);
  auto empty = model.session();
  CHECK_THROWS_AS(batch.submit(empty, nothing), inlay::Error);
  CHECK_THROWS_AS(batch.submit(empty, source(600, 1)), inlay::Error);
  CHECK(empty.tokens().empty());
  {
    Batch dropped(model);
    dropped.submit(session, source(9, 4));
  }
  CHECK(run({}) == generate(other, {}));
}

TEST_CASE("a source that finds no memory ends its request only") {
  const auto page = std::size_t(inlay::Model::plan(file(), {.page = 8}).page);
  const auto model = load({.cache_bytes = 12 * page, .page = 8});
  auto large = model.session(), small = model.session();
  Batch batch(model);
  const auto first = batch.submit(large, source(200, 1), Sampler::greedy(), few());
  batch.submit(small, source(20, 2), Sampler::greedy(), few());
  std::vector<TokenId> made;
  std::string error;
  for (const auto& event : batch) {
    if (event.id == first)
      error += event.error;
    else if (event.token.id >= 0)
      made.push_back(event.token.id);
  }
  CHECK(!error.empty());
  CHECK(large.tokens().empty());
  auto alone = load().session();
  auto reply = alone.generate(source(20, 2), Sampler::greedy(), few());
  std::vector<TokenId> expected;
  for (const auto& token : reply) expected.push_back(token.id);
  CHECK(made == expected);
}

}  // namespace
