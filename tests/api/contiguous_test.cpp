// Proves: sessions whose keys and values lie in one range each say what they say from pages, and take memory for what
// they have read only.
#include <cstdlib>
#include <fstream>

#include "inlay/inlay.h"
#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;
using inlay::TokenId;
using support::Said;
using support::text;

Said say(inlay::Session& session, std::span<const TokenId> prompt) {
  Said said;
  auto reply = session.generate(prompt, support::hashing({.seed = 5}, said.logits), {.tokens = 8, .ignore_end = true});
  for (const auto& token : reply) support::add(said, token);
  return said;
}

// Everything that a session does to its memory.
std::vector<Said> talk(const inlay::Model& model) {
  std::vector<Said> said;
  auto session = model.session();
  said.push_back(say(session, text(150, 1)));
  auto branch = session.fork();
  said.push_back(say(session, text(20, 2)));
  said.push_back(say(branch, text(20, 3)));
  branch.rewind(70);
  said.push_back(say(branch, text(40, 4)));
  auto restored = model.restore(session.save());
  said.push_back(say(restored, text(5, 5)));
  session.drop(10, 60);
  said.push_back(say(session, text(5, 6)));
  std::vector<support::Ask> asks;
  for (TokenId i = 0; i < 6; ++i)
    asks.push_back({text(60 + 9 * std::size_t(i), 10 + i), {.seed = 7}, {.tokens = 8, .ignore_end = true}});
  for (auto& each : support::say_together(model, asks, {.tokens_per_step = 50})) said.push_back(std::move(each));
  return said;
}

TEST_CASE("one range for each session gives the same tokens and logits as pages, at any page size") {
  const auto expected = talk(support::load_nano());
  for (const int page : {1, 5, 32}) CHECK(talk(support::load_nano({.page = page, .contiguous = true})) == expected);
  CHECK(talk(support::load_nano({.page = 64})) == expected);
}

TEST_CASE("states and sources lie beside ranges as beside pages") {
  for (const auto* name : {"mamba2_b", "jamba", "deepseek_v3", "gemma3", "t5_written"})
    for (const auto& arch : support::folders("arch")) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      INFO(name);
      const auto run = [&](bool contiguous) {
        const auto model = inlay::Model::load(file.string(), {.threads = 1, .page = 4, .contiguous = contiguous});
        auto session = model.session();
        if (model.info().encoder_decoder) session.read_source(std::vector<TokenId>{9, 8, 7, 6, 5, 4, 3, 2, 1});
        auto logits = session.evaluate(std::vector<TokenId>{1, 5, 9, 2, 7, 7, 3, 11, 4, 6});
        auto branch = session.fork();
        for (auto* one : {&session, &branch}) {
          one->rewind(6);
          const auto more = one->evaluate(std::vector<TokenId>{8, 1, 12});
          logits.insert(logits.end(), more.begin(), more.end());
        }
        return logits;
      };
      CHECK(run(true) == run(false));
    }
}

TEST_CASE("a session that finds no room fails as it does with pages, and so does a fork") {
  const auto page = std::size_t(inlay::Model::plan(support::nano(), {.contiguous = true}).page);
  const auto model = support::load_nano({.cache_bytes = 10 * page, .contiguous = true});
  auto session = model.session();
  say(session, text(200, 1));
  const std::vector<TokenId> before(session.tokens().begin(), session.tokens().end());
  CHECK_THROWS_AS(session.fork(), inlay::Error);
  CHECK_THROWS_AS(session.evaluate(text(200, 2)), inlay::Error);
  CHECK(std::equal(before.begin(), before.end(), session.tokens().begin(), session.tokens().end()));
  auto alone = support::load_nano().session();
  say(alone, text(200, 1));
  CHECK(say(session, text(9, 3)) == say(alone, text(9, 3)));
  session.rewind(20);
  CHECK_NOTHROW(session.fork());
}

TEST_CASE("ranges take no memory from the host, and have no tier") {
  CHECK_THROWS_AS(support::load_nano({.disk_bytes = 1 << 20, .disk_folder = "/tmp", .contiguous = true}), inlay::Error);
  CHECK_THROWS_AS(support::load_nano({.contiguous = true, .memory = std::pmr::new_delete_resource()}), inlay::Error);
  const auto path = support::nano();
  inlay_load load = INLAY_LOAD_INIT;
  load.contiguous = 1, load.threads = 1;
  inlay_model* model = nullptr;
  CHECK(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_OK);
  inlay_model_free(model);
  load.alloc = [](void*, size_t bytes, size_t) { return std::malloc(bytes); };
  load.release = [](void*, void* memory, size_t, size_t) { std::free(memory); };
  CHECK(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_ARGUMENT);
}

#ifdef __linux__
struct Pages {
  std::size_t addresses, memory;  // bytes of this process
};
Pages pages_of_process() {
  std::ifstream file("/proc/self/statm");
  Pages pages;
  file >> pages.addresses >> pages.memory;
  return {pages.addresses * 4096, pages.memory * 4096};
}

TEST_CASE("memory follows what is read, and not the longest context") {
  constexpr int context = 1 << 22;
  const auto plan = inlay::Model::plan(support::nano(), {.context = context, .contiguous = true});
  const auto range = plan.per_token * std::uint64_t(context);
  const auto model = support::load_nano({.context = context, .cache_bytes = range, .contiguous = true});
  auto session = model.session();
  session.evaluate(text(500, 1));  // with the scratch that this takes
  session.rewind(0), model.trim();
  const auto before = pages_of_process();
  session.evaluate(text(500, 2));
  const auto after = pages_of_process();
  CHECK(after.addresses - before.addresses >= range);
  CHECK(after.memory < before.memory + range / 64);
}
#endif

}  // namespace
