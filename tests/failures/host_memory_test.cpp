// Proves: what a model, its sessions and batches keep comes from the host's memory, and writing on takes nothing from
// the heap.
#include <filesystem>

#include "tests/support/catch.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/host_memory.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;

using support::Beside;
using support::of_texts;
using support::serially;

TEST_CASE("all that a model keeps comes from the host's memory, but for the texts of its info") {
  for (const bool whole : {true, false}) {
    for (const int threads : {1, 3}) {
      Beside memory;
      const auto before = heap::used();
      const auto model =
          support::load_nano({.threads = threads, .parallel = serially, .memory = &memory, .vocabulary_only = !whole});
      CHECK(heap::used() - before == of_texts(model.info()));
      CHECK(memory.now > std::size_t(whole ? 5 << 20 : 1 << 16));
    }
  }
}

TEST_CASE("all that a vocabulary keeps comes from the host's memory, but for the texts of its info") {
  std::size_t vocabularies = 0;
  for (const auto& folder : support::folders("tokenizer")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".gguf") continue;
      INFO(entry.path());
      Beside memory;
      const auto before = heap::used();
      const auto model =
          inlay::Model::load(entry.path().string(), {.threads = 1, .memory = &memory, .vocabulary_only = true});
      CHECK(heap::used() - before == of_texts(model.info()));
      ++vocabularies;
    }
  }
  CHECK((vocabularies > 0 || support::folders("tokenizer").empty()));
}

TEST_CASE(
    "all that is kept of a file with heads that guess comes from the host's memory, but for the texts of its info") {
  for (const char* name : {"medusa", "nextn"}) {
    Beside memory;
    const auto before = heap::used();
    const auto model = inlay::Model::load((support::data() / "heads" / (std::string(name) + ".gguf")).string(),
                                          {.threads = 1, .heads = true, .parallel = serially, .memory = &memory});
    CHECK(heap::used() - before == of_texts(model.info()));
  }
}

TEST_CASE("a session's salt is kept in the host's memory") {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .parallel = serially, .memory = &memory});
  const inlay::SessionOptions options{.salt = "a tenant with a name that is long enough to need memory"};
  const auto before = heap::used();
  auto session = model.session(options);
  session.generate("Once upon a time there was a little girl and she had a dog", Sampler::greedy(), {.tokens = 40})
      .text();
  const auto fork = session.fork();
  CHECK(heap::used() == before);
}

TEST_CASE("the token masks of a grammar are kept in the host's memory, as long as the grammar lives") {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .parallel = serially, .memory = &memory});
  auto session = model.session({.speculate = false});  // guesses would make steps of sizes that time decides
  const auto answer = [&](const inlay::Grammar& grammar) {
    Sampler sampler = Sampler::greedy();
    sampler.grammar = grammar;
    session.rewind(0);
    return session.generate("Do you like it?", sampler, {.tokens = 8}).text();
  };
  const std::string_view choices[] = {" yes", " no", " perhaps"};
  const auto compile = [&] { return inlay::Grammar::choice(choices); };
  for (int i = 0; i < 3; ++i) answer(compile());  // steps of each size that comes are recorded once
  const auto of_heap = heap::used(), of_host = memory.now;
  {
    const auto grammar = compile();
    const auto compiled = heap::used();
    answer(grammar);
    CHECK(heap::used() <= compiled);  // less: what was watched of the first one goes
    const auto again = compile();     // the first one of all is no more: its masks go
    answer(again);
    CHECK(memory.now > of_host);
  }
  answer(compile());
  CHECK(memory.now == of_host);
  CHECK(heap::used() - of_heap < 4096);  // the rules of the latest, which are watched
}

TEST_CASE("all that is kept for sessions, forks, prefixes and batches comes from the host's memory") {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .parallel = serially, .memory = &memory});
  const auto before = heap::used();
  auto session = model.session();
  CHECK(heap::used() == before);
  const inlay::Limits limits{.tokens = 100, .ignore_end = true};
  const auto say = [&](inlay::Session& to, const char* text) { to.generate(text, Sampler::greedy(), limits).text(); };
  say(session, "Once upon a time");
  auto fork = session.fork();
  say(fork, " and so");
  auto other = model.session();
  say(other, "Once upon a time");
  CHECK(heap::used() == before);
  auto restored = model.restore(session.save());
  CHECK(heap::used() == before);
  {
    inlay::Batch batch(model);
    batch.submit(other, "One day", Sampler::greedy(), limits);
    batch.submit(restored, "The cat", Sampler::greedy(), limits);
    for (const auto& event : batch) REQUIRE(event.error.empty());
    CHECK(heap::used() == before);
  }
  CHECK(heap::used() == before);
}

TEST_CASE("what guesses for a session is kept in the host's memory, too") {
  const auto heads = [](const char* name) {
    return (support::data() / "heads" / (std::string(name) + ".gguf")).string();
  };
  const std::vector<inlay::TokenId> prompt = {5, 6, 7, 8, 9};
  for (const auto& path : {support::nano(), heads("medusa"), heads("nextn")}) {
    INFO(path);
    Beside memory;
    const bool own = path != support::nano();  // heads of its own
    const auto model = inlay::Model::load(path, {.threads = 1, .heads = own, .parallel = serially, .memory = &memory});
    const auto before = heap::used();
    auto session = model.session({.draft = own ? nullptr : &model});
    support::let_guesses_pay(model);
    {
      auto reply = session.generate(prompt, Sampler::greedy(), {.tokens = 60, .ignore_end = true});
      (void)reply.text();
      CHECK(reply.stats().drafted_tokens > 0);
    }
    const auto fork = session.fork();
    CHECK(heap::used() == before);
  }
}

// What tokens take from the host's memory, after the first hundred of a text; from the heap they take nothing.
constexpr int warm = 100, more = 300;
std::size_t taken_for_tokens(const Sampler& sampler, bool speculate, bool with_model = false) {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .memory = &memory});
  auto session = model.session({.speculate = speculate, .draft = with_model ? &model : nullptr});
  support::let_guesses_pay(model);
  auto reply = session.generate("Once upon a time", sampler, {.tokens = warm + more, .ignore_end = true});
  std::size_t of_heap = 0, of_host = 0;
  int made = 0, guessed = 0;
  for ([[maybe_unused]] const auto& token : reply) {
    support::let_guesses_pay(model);
    if (++made == warm)
      of_heap = heap::allocations(), of_host = memory.allocations, guessed = reply.stats().drafted_tokens;
  }
  CHECK(heap::allocations() == of_heap);
  CHECK(made == warm + more);
  CHECK((reply.stats().drafted_tokens > guessed) == speculate);
  return memory.allocations - of_host;
}

TEST_CASE("a token takes nothing from the heap, whether it was guessed or not") {
  // Lists of tokens and pages grow now and then.
  for (const auto& sampler : {Sampler::greedy(), Sampler{.seed = 1}})
    CHECK(taken_for_tokens(sampler, false) < more / 4);
  taken_for_tokens({.repeat_penalty = 1.1f, .top_k = 0, .typical_p = 0.9f, .seed = 2}, false);
  for (const bool with_model : {false, true})
    for (const auto& sampler : {Sampler::greedy(), Sampler{.temperature = 0.4f, .seed = 1}})
      taken_for_tokens(sampler, true, with_model);
}

void check_steps(int sessions, bool ahead) {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .memory = &memory});
  std::vector<inlay::Session> all;
  inlay::Batch batch(model);
  support::inside(batch).go_ahead(ahead);
  for (int i = 0; i < sessions; ++i)
    batch.submit(all.emplace_back(model.session()), "One day", {.seed = std::uint64_t(i)},
                 {.tokens = warm + more, .ignore_end = true});
  std::size_t of_heap = 0;
  int made = 0, guessed = 0;
  for (const auto& event : batch) {
    REQUIRE(event.error.empty());
    ++made;
    support::let_guesses_pay(model);
    if (made == warm * sessions) of_heap = heap::allocations();
    if (made == (warm + more - 1) * sessions) CHECK(heap::allocations() == of_heap);
    guessed = event.stats.drafted_tokens;
  }
  CHECK(made == (warm + more) * sessions);
  CHECK((guessed > 0) == (sessions == 1));
}

TEST_CASE("a step of a batch takes nothing from the heap, be it of one request that guesses, or begun ahead") {
  for (const int sessions : {1, 4})
    for (const bool ahead : {false, true}) check_steps(sessions, ahead);
}

}  // namespace
