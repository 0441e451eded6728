// Proves: whichever single allocation fails, the call ends in a typed error, and the next one gives the usual answer.
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;

// Lets allocation 0, 1, 2, ... of `act` fail once (each of the first `dense`, then every `stride`th) until none is left
// to fail, and calls `check` after each failure. Returns how many failures there were.
template <class Act, class Check>
int walk(int dense, int stride, Act act, Check check) {
  int failures = 0;
  for (int at = 0;; at += at < dense ? 1 : stride) {
    heap::fail_after(std::size_t(at), false);
    bool ended = false;
    try {
      act();
    } catch (const inlay::Error& error) {
      ended = true;
      INFO(at << ": " << error.what());
      CHECK(error.code() == inlay::Errc::memory);
    } catch (const std::bad_alloc&) {  // of this file's own strings
      ended = true;
    }
    const bool failed = heap::never_fail();
    if (!failed) {
      REQUIRE_FALSE(ended);
      return failures;
    }
    ++failures;
    check();
  }
}

}  // namespace

TEST_CASE("any allocation of a generation may fail") {
  const auto model = support::load_nano({.threads = 1});
  const auto answer = [&](inlay::Session& session) {
    return session
        .generate("Once upon a time", {.temperature = 0.8f, .seed = 7}, {.tokens = 6, .stop = {"never to be found"}})
        .text();
  };
  auto first = model.session();
  const std::string expected = answer(first);
  auto session = model.session();
  const int failures = walk(
      1500, 7, [&] { answer(session); },
      [&] {
        session.rewind(0);
        REQUIRE(answer(session) == expected);
        session.rewind(0);
      });
  CHECK(failures > 30);
}

TEST_CASE("any allocation of an answer in JSON may fail") {
  const auto model = support::load_nano({.threads = 1});
  const auto compile = [] {
    return inlay::Grammar::json_schema(R"({"type": "array", "items": {"enum": ["yes", "no"]}, "maxItems": 2})");
  };
  const auto answer = [&](const inlay::Grammar& grammar) {
    Sampler sampler = Sampler::greedy();
    sampler.grammar = grammar;
    auto session = model.session();
    return session.generate("A list: ", sampler, {.tokens = 8}).text();
  };
  const std::string expected = answer(compile());
  const auto as_usual = [&] { REQUIRE(answer(compile()) == expected); };
  CHECK(walk(
            400, 41, [&] { answer(compile()); }, as_usual) > 100);

  inlay::Grammar grammar = compile();  // learns as it is used, and must not learn half of something
  const auto still_right = [&] {
    REQUIRE(answer(grammar) == expected);
    grammar = compile();
  };
  CHECK(walk(
            400, 41, [&] { answer(grammar); }, still_right) > 100);
}

TEST_CASE("any allocation of loading may fail") {
  const int failures = walk(
      400, 31, [] { support::load_nano({.threads = 1}); }, [] {});
  CHECK(failures > 150);
  CHECK_FALSE(support::load_nano({.threads = 1}).session().room() == 0);
}
