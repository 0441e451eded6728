// Proves: from C, sessions are saved, restored, shortened and shared as they are from C++.
#include <string>
#include <vector>

#include "inlay/inlay.h"
#include "tests/support/catch.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/models.hpp"

namespace {

struct Model {
  inlay_model* handle = nullptr;
  Model() {
    inlay_load load = INLAY_LOAD_INIT;
    load.page = 8;
    const auto path = support::nano();
    REQUIRE(inlay_model_load(inlay_string(path.c_str()), &load, &handle, nullptr) == INLAY_OK);
  }
  ~Model() { inlay_model_free(handle); }
};

struct Session {
  inlay_session* handle = nullptr;
  ~Session() { inlay_session_free(handle); }
};

// Greedy tokens after a prompt, and the figures of their generation.
std::vector<std::int32_t> go_on(inlay_session* session, const char* prompt, inlay_stats* stats = nullptr) {
  inlay_sampler sampler = INLAY_SAMPLER_INIT;
  sampler.temperature = 0;
  inlay_limits limits = INLAY_LIMITS_INIT;
  limits.tokens = 8;
  inlay_generation* generation = nullptr;
  REQUIRE(inlay_generate(session, inlay_string(prompt), &sampler, &limits, &generation, nullptr) == INLAY_OK);
  std::vector<std::int32_t> tokens;
  for (inlay_token token; inlay_next(generation, &token, nullptr) == INLAY_OK;) tokens.push_back(token.id);
  if (stats) *stats = inlay_generation_stats(generation);
  inlay_generation_free(generation);
  return tokens;
}

const char* const prompt = "Once upon a time, there was a small red house at the end of the lane, and in it";

TEST_CASE("a session saved from C continues, from memory and from a file") {
  const Model model;
  Session session, from_memory, from_file, none;
  REQUIRE(inlay_session_new(model.handle, nullptr, &session.handle, nullptr) == INLAY_OK);
  go_on(session.handle, prompt);
  size_t size = 0;
  REQUIRE(inlay_session_save_memory(session.handle, nullptr, 0, &size, nullptr) == INLAY_OK);
  std::vector<char> saved(size);
  REQUIRE(inlay_session_save_memory(session.handle, saved.data(), size, &size, nullptr) == INLAY_OK);
  const support::Folder folder;
  const auto path = folder.file("session");
  REQUIRE(inlay_session_save(session.handle, inlay_string(path.c_str()), nullptr) == INLAY_OK);
  const auto expected = go_on(session.handle, "");
  REQUIRE(inlay_session_restore_memory(model.handle, saved.data(), size, nullptr, &from_memory.handle, nullptr) ==
          INLAY_OK);
  REQUIRE(inlay_session_restore(model.handle, inlay_string(path.c_str()), nullptr, &from_file.handle, nullptr) ==
          INLAY_OK);
  CHECK(go_on(from_memory.handle, "") == expected);
  CHECK(go_on(from_file.handle, "") == expected);
  std::filesystem::remove(path);
  inlay_error error;
  CHECK(inlay_session_restore(model.handle, inlay_string(path.c_str()), nullptr, &none.handle, &error) == INLAY_IO);
  CHECK(inlay_session_restore_memory(model.handle, saved.data(), size - 1, nullptr, &none.handle, &error) ==
        INLAY_FORMAT);
  CHECK(none.handle == nullptr);
}

TEST_CASE("sessions from C share what they read within a salt, and drop tokens") {
  const Model model;
  Session one, two, other;
  inlay_session_options options = INLAY_SESSION_OPTIONS_INIT;
  options.salt = inlay_string("a tenant");
  REQUIRE(inlay_session_new(model.handle, nullptr, &one.handle, nullptr) == INLAY_OK);
  REQUIRE(inlay_session_new(model.handle, nullptr, &two.handle, nullptr) == INLAY_OK);
  REQUIRE(inlay_session_new(model.handle, &options, &other.handle, nullptr) == INLAY_OK);
  inlay_stats stats;
  const auto expected = go_on(one.handle, prompt);
  CHECK(go_on(two.handle, prompt, &stats) == expected);
  CHECK(stats.reused_tokens > 0);
  CHECK(stats.reuse_end == INLAY_REUSE_WHOLE);
  CHECK(go_on(other.handle, prompt, &stats) == expected);
  CHECK(stats.reused_tokens == 0);
  CHECK(stats.speculation == INLAY_SPECULATION_ON);
  size_t before = 0, after = 0;
  REQUIRE(inlay_session_room(one.handle, &before, nullptr) == INLAY_OK);
  REQUIRE(inlay_session_drop(one.handle, 2, 10, nullptr) == INLAY_OK);
  REQUIRE(inlay_session_room(one.handle, &after, nullptr) == INLAY_OK);
  CHECK(after == before + 10);
  CHECK(inlay_session_drop(one.handle, 1000, 1, nullptr) == INLAY_ARGUMENT);
  options.speculate = 0;
  Session plain;
  REQUIRE(inlay_session_new(model.handle, &options, &plain.handle, nullptr) == INLAY_OK);
  CHECK(go_on(plain.handle, prompt, &stats) == expected);
  CHECK(stats.speculation == INLAY_SPECULATION_OFF);
  CHECK(stats.drafted_tokens == 0);
  options.when_full = INLAY_WHEN_FULL_DROP;
  options.keep = -1;
  Session refused;
  CHECK(inlay_session_new(model.handle, &options, &refused.handle, nullptr) == INLAY_ARGUMENT);
}

}  // namespace
