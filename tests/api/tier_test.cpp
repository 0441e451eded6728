// Proves: sessions whose pages went to a file go on as if they had not, also where the file lost them.
#include <filesystem>
#include <fstream>

#include "inlay/inlay.h"
#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;
using inlay::TokenId;
using support::text;

std::string folder() { return std::filesystem::temp_directory_path().string(); }

// Memory for about two of the sessions below.
inlay::LoadOptions small(std::size_t disk_pages) {
  const auto page = std::size_t(inlay::Model::plan(support::nano()).page);
  return {.threads = 1, .cache_bytes = 12 * page, .disk_bytes = disk_pages * page, .disk_folder = folder()};
}

std::vector<TokenId> say(inlay::Session& session, std::span<const TokenId> prompt) {
  std::vector<TokenId> made;
  auto reply = session.generate(prompt, Sampler::greedy(), {.tokens = 6, .ignore_end = true});
  for (const auto& token : reply) made.push_back(token.id);
  return made;
}

// Sessions that take turns; what each says in all of them. Between two turns, `meanwhile` happens.
std::vector<std::vector<TokenId>> talk(const inlay::Model& model, const std::function<void()>& meanwhile = {}) {
  std::vector<inlay::Session> sessions;
  std::vector<std::vector<TokenId>> said(8);
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (turn == 0) sessions.push_back(model.session());
      const auto made = say(sessions[i], text(turn == 0 ? 120 : 9, TokenId(i + 10 * std::size_t(turn))));
      said[i].insert(said[i].end(), made.begin(), made.end());
    }
    if (meanwhile) meanwhile();
  }
  const auto saved = sessions[0].save();
  auto restored = model.restore(saved), branch = sessions[1].fork();
  said.push_back(say(restored, text(5, 99)));
  said.push_back(say(branch, text(5, 98)));
  sessions[2].rewind(100), sessions[3].drop(10, 40);
  said.push_back(say(sessions[2], text(5, 97)));
  said.push_back(say(sessions[3], text(5, 96)));
  return said;
}

TEST_CASE("idle sessions go to a file and come back with the same tokens") {
  const auto expected = talk(support::load_nano({.threads = 1}));
  CHECK(talk(inlay::Model::load(support::nano(), small(60))) == expected);
  auto without = small(60);
  without.reuse_prefixes = false;
  CHECK(talk(inlay::Model::load(support::nano(), without)) == expected);
}

TEST_CASE("where memory and disk are full, sessions fail as ever, and those that fit are untouched") {
  const auto model = inlay::Model::load(support::nano(), small(12));
  std::vector<inlay::Session> sessions;
  const auto fill = [&] {
    for (TokenId i = 0; i < 20; ++i) say(sessions.emplace_back(model.session()), text(120, i));
  };
  CHECK_THROWS_AS(fill(), inlay::Error);
  CHECK(sessions.size() >= 4);
  sessions.erase(sessions.begin() + 4, sessions.end());
  auto alone = support::load_nano({.threads = 1}).session();
  auto expected = say(alone, text(120, 1));
  CHECK(say(sessions[1], text(5, 50)) == say(alone, text(5, 50)));
}

TEST_CASE("requests of a batch take turns in memory, with idle sessions on disk") {
  const auto model = inlay::Model::load(support::nano(), small(80)), plain = support::load_nano({.threads = 1});
  std::vector<inlay::Session> idle;
  for (TokenId i = 0; i < 6; ++i) say(idle.emplace_back(model.session()), text(120, i));
  std::vector<support::Ask> asks;
  for (TokenId i = 0; i < 6; ++i)
    asks.push_back({text(60, 20 + i), Sampler::greedy(), {.tokens = 8, .ignore_end = true}});
  std::vector<support::Said> expected;
  for (const auto& ask : asks) expected.push_back(support::say_alone(plain, ask));
  CHECK(support::say_together(model, asks, {}) == expected);
  for (TokenId i = 0; i < 6; ++i) {
    auto alone = plain.session();
    say(alone, text(120, i));
    CHECK(say(idle[std::size_t(i)], text(5, 50)) == say(alone, text(5, 50)));
  }
}

// Sessions of any model that take turns, with a source where it has one; the logits of all of them.
std::vector<float> take_turns(const inlay::Model& model, const std::function<void()>& meanwhile = {}) {
  std::vector<inlay::Session> sessions;
  std::vector<float> all;
  const auto add = [&](inlay::Session& session, std::size_t n, TokenId first) {
    std::vector<TokenId> tokens(n);
    for (std::size_t i = 0; i < n; ++i) tokens[i] = 3 + TokenId((std::size_t(first) * 31 + i * i * 7) % 60);
    const auto logits = session.evaluate(tokens);
    all.insert(all.end(), logits.begin(), logits.end());
  };
  for (int turn = 0; turn < 3; ++turn) {
    for (TokenId i = 0; i < 6; ++i) {
      if (turn == 0) sessions.push_back(model.session());
      auto& session = sessions[std::size_t(i)];
      if (turn == 0 && model.info().encoder_decoder)
        session.read_source(std::vector<TokenId>(std::size_t(20 + i), 5 + i));
      add(session, turn == 0 ? 22 : 5, i + 10 * turn);
    }
    if (meanwhile) meanwhile();
  }
  auto restored = model.restore(sessions[0].save()), branch = sessions[1].fork();
  sessions[2].rewind(10);
  add(restored, 3, 40), add(branch, 3, 41), add(sessions[2], 3, 42);
  return all;
}

// Models with states, with both, and with sources; and memory for about two of their sessions above.
template <class Use>
void each_kind_of_memory(const Use& use) {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"mamba2_b", "jamba", "lfm2", "qwen3_next", "t5_written"}) {
      const auto file = (arch / (std::string(name) + ".gguf")).string();
      if (!std::filesystem::exists(file)) continue;
      inlay::LoadOptions options{.threads = 1, .disk_bytes = 1, .disk_folder = folder(), .page = 4};
      const auto plan = inlay::Model::plan(file, options);
      options.cache_bytes = 2 * std::max(std::size_t(15 * plan.page), std::size_t(3 * plan.states));
      options.disk_bytes = 400 * (plan.page + plan.states);
      INFO(name);
      use(file, options);
    }
}

TEST_CASE("states and sources go to a file and come back, too") {
  each_kind_of_memory([](const std::string& file, inlay::LoadOptions options) {
    const auto expected = take_turns(inlay::Model::load(file, {.threads = 1}));
    CHECK(take_turns(inlay::Model::load(file, options)) == expected);
    options.reuse_prefixes = false;
    CHECK(take_turns(inlay::Model::load(file, options)) == expected);
    options.disk_bytes = 0;
    CHECK_THROWS_AS(take_turns(inlay::Model::load(file, options)), inlay::Error);
  });
}

#ifdef __linux__
// Overwrites or cuts every nameless file of the library that this process has open.
int damage(bool cut) {
  int found = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const auto target = std::filesystem::read_symlink(entry.path(), gone).string();
    if (gone || target.find(".inlay-") == std::string::npos) continue;
    const auto size = std::filesystem::file_size(entry.path());
    ++found;
    if (cut) {
      std::ofstream(entry.path(), std::ios::trunc);
      continue;
    }
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::uintmax_t at = 100; at < size; at += 20'000) file.seekp(std::streamoff(at)).put('\x5a');
  }
  return found;
}

TEST_CASE("what a file has lost is read again from its tokens, with the same result") {
  const auto expected = talk(support::load_nano({.threads = 1}));
  for (const bool cut : {false, true}) {
    auto options = small(60);
    int warnings = 0;
    options.log = [&](inlay::Level level, std::string_view) { warnings += level == inlay::Level::warning; };
    CHECK(talk(inlay::Model::load(support::nano(), options), [&] { CHECK(damage(cut) == 1); }) == expected);
    CHECK(warnings > 0);
  }
}

TEST_CASE("lost states and sources are read again, too") {
  each_kind_of_memory([](const std::string& file, inlay::LoadOptions options) {
    const auto expected = take_turns(inlay::Model::load(file, {.threads = 1}));
    int warnings = 0;
    options.log = [&](inlay::Level level, std::string_view) { warnings += level == inlay::Level::warning; };
    for (const bool cut : {false, true})
      CHECK(take_turns(inlay::Model::load(file, options), [&] { CHECK(damage(cut) > 0); }) == expected);
    CHECK(warnings > 0);
  });
}
#endif

TEST_CASE("the file is told in C, too, and a folder is needed") {
  const auto path = support::nano(), where = folder();
  inlay_load load = INLAY_LOAD_INIT;
  load.disk_bytes = 1 << 20, load.threads = 1;
  inlay_model* model = nullptr;
  CHECK(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_ARGUMENT);
  load.disk_folder = {where.data(), where.size()};
  CHECK(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_OK);
  inlay_model_free(model);
  const std::string nowhere = where + "/no such folder";
  load.disk_folder = {nowhere.data(), nowhere.size()};
  CHECK(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_IO);
}

}  // namespace
