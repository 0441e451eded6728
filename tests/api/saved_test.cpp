// Proves: a saved session continues as if it had never left, wherever it is restored, and nothing else is ever
// restored.
#include <chrono>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/models.hpp"
#include "tests/support/mutations.hpp"

#ifndef _WIN32
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace {

using inlay::CacheType;
using inlay::Sampler;
using inlay::TokenId;

const char* const prompt = "Once upon a time, there was a small red house at the end of the lane, and in it";

struct Continuation {
  std::vector<TokenId> tokens;
  std::vector<float> logprobs;
  bool operator==(const Continuation&) const = default;
};

Continuation go_on(inlay::Session& session, int n = 32) {
  Continuation made;
  auto reply = session.generate(std::span<const TokenId>(), Sampler::greedy(), {.tokens = n, .ignore_end = true});
  for (const auto& token : reply) made.tokens.push_back(token.id), made.logprobs.push_back(token.logprob);
  return made;
}

inlay::Session begun(const inlay::Model& model) {
  auto session = model.session();
  (void)session.generate(prompt, Sampler::greedy(), {.tokens = 5}).text();
  return session;
}

TEST_CASE("a restored session continues with the same bits, from memory and from a file, at any page size") {
  const support::Folder folder;
  for (const auto type : {CacheType::f16, CacheType::f32, CacheType::bf16, CacheType::q8_0, CacheType::q4_0}) {
    const auto model = support::load_nano({.keys = type, .values = type});
    auto session = begun(model);
    const auto saved = session.save();
    const auto path = folder.file("session");
    session.save(path);
    CHECK(support::read(path) == std::string(reinterpret_cast<const char*>(saved.data()), saved.size()));
    const std::vector<TokenId> tokens(session.tokens().begin(), session.tokens().end());
    const auto expected = go_on(session);
    for (const int page : {1, 5, 16, 64}) {
      const auto other = support::load_nano({.keys = type, .values = type, .page = page});
      auto restored = other.restore(saved), from_file = other.restore(path);
      CHECK(std::equal(tokens.begin(), tokens.end(), restored.tokens().begin(), restored.tokens().end()));
      CHECK(restored.save() == saved);
      CHECK(go_on(restored) == expected);
      CHECK(go_on(from_file) == expected);
    }
  }
}

TEST_CASE("states and latent caches are saved too") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"llama", "mamba2_b", "jamba", "lfm2", "qwen3_next", "deepseek_v3", "gemma3", "llama4"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      INFO(name);
      const auto model = inlay::Model::load(file.string(), {.threads = 1});
      auto session = model.session();
      session.evaluate(std::vector<TokenId>{1, 5, 9, 2, 7, 7, 3, 11, 4, 6});
      auto restored = inlay::Model::load(file.string(), {.threads = 1, .page = 3}).restore(session.save());
      const std::vector<TokenId> more = {8, 1, 12};
      CHECK(restored.evaluate(more) == session.evaluate(more));
    }
}

TEST_CASE("another instruction set and another cache type continue within rounding, and what they read stays theirs") {
  const inlay::LoadOptions halves = {.keys = CacheType::f16, .values = CacheType::f16};  // on both
  const auto saved = begun(support::load_nano(halves)).save();
  auto original = support::load_nano(halves).restore(saved);
  const auto expected = original.evaluate(std::vector<TokenId>{300});
  const auto distance = [&](inlay::Session session) {
    const auto logits = session.evaluate(std::vector<TokenId>{300});
    double sum = 0, norm = 0;
    for (std::size_t i = 0; i < logits.size(); ++i) {
      sum += (logits[i] - expected[i]) * (logits[i] - expected[i]);
      norm += expected[i] * expected[i];
    }
    return std::sqrt(sum / norm);
  };
  CHECK(distance(support::load_nano({.isa = "baseline"}).restore(saved)) < 1e-3);
  // No farther than a session that has read the same with that cache.
  for (const auto type : {CacheType::f32, CacheType::bf16, CacheType::q8_0}) {
    const auto other = support::load_nano({.keys = type, .values = type});
    auto fresh = other.session();
    const std::vector<TokenId> tokens(original.tokens().begin(), original.tokens().end() - 1);
    fresh.evaluate(tokens);
    CHECK(distance(other.restore(saved)) < 2 * distance(std::move(fresh)) + 1e-3);
  }

  const inlay::LoadOptions options{.keys = CacheType::q8_0, .values = CacheType::q8_0, .page = 4};
  const auto model = support::load_nano(options);
  {
    auto converted = model.restore(saved);
    go_on(converted);
  }
  auto fresh = begun(model), expected_fresh = begun(support::load_nano(options));
  CHECK(go_on(fresh) == go_on(expected_fresh));
}

TEST_CASE("a session of another model is refused with a sentence that says so") {
  const auto file = [](const char* name) { return (support::data() / "arch" / name).string(); };
  const auto one = inlay::Model::load(file("llama.gguf"), {.threads = 1});
  const auto other = inlay::Model::load(file("llama_rope_linear.gguf"), {.threads = 1});
  auto session = one.session();
  session.evaluate(std::vector<TokenId>{1, 2, 3});
  try {
    (void)other.restore(session.save());
    FAIL("restored");
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::format);
    CHECK(std::string(error.what()).find("different model") != std::string::npos);
  }
  CHECK_NOTHROW(one.restore(session.save()));
}

TEST_CASE("every damaged copy is refused, and what lives is not touched") {
  const auto model = support::load_nano();
  auto live = begun(model);
  const auto before = live.save();
  auto other = model.session();
  (void)other.generate("Two plus two", Sampler::greedy(), {.tokens = 2}).text();
  const auto saved = other.save();
  std::size_t refused = 0;
  support::each_mutation(saved, 200, [&](const std::string& name, const std::vector<std::byte>& damaged) {
    INFO(name);
    try {
      (void)model.restore(damaged);
      FAIL("restored");
    } catch (const inlay::Error& error) {
      ++refused;
      if (error.code() != inlay::Errc::format) FAIL(error.what());
    }
  });
  CHECK(refused > 1000);
  CHECK(live.save() == before);
  auto expected = begun(support::load_nano());
  CHECK(go_on(live) == go_on(expected));
  auto restored = model.restore(saved);
  CHECK(go_on(restored) == go_on(other));
}

#ifndef _WIN32
TEST_CASE("a session being saved when its process is killed, at any of 200 moments, is there as it was or as it is") {
  const support::Folder folder;
  const auto path = folder.file("session");
  const auto model = support::load_nano({.threads = 1});
  const auto old = begun(model);
  auto session = old.fork();
  go_on(session);
  const auto before = old.save(), after = session.save();
  REQUIRE(before != after);
  old.save(path);
  const auto started = std::chrono::steady_clock::now();
  for (int i = 0; i < 5; ++i) old.save(path);
  const auto of_five =
      std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - started);
  std::mt19937 random(1);
  std::size_t as_it_was = 0, as_it_is = 0;
  for (int i = 0; i < 200; ++i) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) try {
        for (;;) session.save(path), old.save(path);
      } catch (...) {
        ::_exit(1);
      }
    ::usleep(random() % useconds_t(1 + of_five.count()));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    const auto found = model.restore(path).save();
    as_it_was += found == before, as_it_is += found == after;
    if (found != before && found != after) FAIL("what was restored is neither");
  }
  CHECK(as_it_was > 0);
  CHECK(as_it_is > 0);
  CHECK(folder.files() > 20);  // writers were stopped in the middle
}
#endif

TEST_CASE("a saved session that does not fit is refused, and a file that is not there is named") {
  const support::Folder folder;
  const auto saved = begun(support::load_nano()).save();
  CHECK_THROWS_AS(support::load_nano({.context = 8}).restore(saved), inlay::Error);
  try {
    (void)support::load_nano().restore(folder.file("nothing"));
    FAIL("restored");
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::io);
    CHECK(std::string(error.what()).find("nothing") != std::string::npos);
  }
  CHECK_THROWS_AS(begun(support::load_nano()).save(folder.file("no/such/folder")), inlay::Error);
}

}  // namespace
