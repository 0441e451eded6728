// Proves: what grows with a file, a vocabulary, a text or a context comes from the host's memory also where it is
// needed for a moment only; the heap serves what is handed out, and small things.
#include <filesystem>
#include <string>

#include "tests/support/catch.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/host_memory.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;
using support::Beside;
using support::of_texts;
using support::serially;

constexpr std::size_t small = 32 << 10;

// The most that `act` has of the heap at any moment, beyond what was there.
template <class Act>
std::size_t peak_of(Act act) {
  const auto before = heap::used();
  heap::mark_peak();
  act();
  return heap::peak() - before;
}

std::string text_of(std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text += "Once upon a time, 1234567 little girls sang \"la la\" and went  home.\n";
  return text;
}

TEST_CASE("loading a model takes little of the heap, whatever its size") {
  Beside memory;
  std::size_t texts = 0;
  const auto peak = peak_of([&] {
    const auto model = support::load_nano({.threads = 1, .parallel = serially, .memory = &memory});
    texts = of_texts(model.info());
    CHECK(memory.now > std::size_t(5 << 20));
  });
  CHECK(peak < texts + small);
}

TEST_CASE("a text becomes tokens in the host's memory") {
  const auto text = text_of(1 << 20);
  for (const auto& folder : support::folders("tokenizer")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".gguf") continue;
      INFO(entry.path());
      Beside memory;
      std::size_t texts = 0, ids = 0;
      const auto loading = peak_of([&] {
        const auto model =
            inlay::Model::load(entry.path().string(), {.threads = 1, .memory = &memory, .vocabulary_only = true});
        texts = of_texts(model.info());
        const auto tokenizing = peak_of([&] { ids = model.tokenize(text).size() * sizeof(inlay::TokenId); });
        CHECK(tokenizing < ids + small);
      });
      CHECK(loading < texts + ids + small);
    }
  }
}

TEST_CASE("sessions are read, saved and restored in the host's memory") {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .parallel = serially, .memory = &memory});
  const auto prompt = text_of(2000);
  auto session = model.session();
  CHECK(peak_of([&] { session.generate(prompt, Sampler::greedy(), {.tokens = 8}).text(); }) < small);
  auto other = model.session();
  CHECK(peak_of([&] { other.score(prompt); }) < small);
  std::vector<std::byte> saved;
  CHECK(peak_of([&] { saved = session.save(); }) < session.save().size() + small);
  CHECK(peak_of([&] { model.restore(saved); }) < small);
  const auto path = (std::filesystem::temp_directory_path() / "inlay-host-moment.session").string();
  CHECK(peak_of([&] { session.save(path); }) < small);
  CHECK(peak_of([&] { model.restore(path); }) < small);
  std::filesystem::remove(path);
}

TEST_CASE("the tree of a vocabulary that token masks need is made in the host's memory") {
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .parallel = serially, .memory = &memory});
  auto session = model.session();
  Sampler sampler = Sampler::greedy();
  const std::string_view choices[] = {" yes", " no"};
  sampler.grammar = inlay::Grammar::choice(choices);
  const auto before = memory.now;
  CHECK(peak_of([&] { session.generate("Is it?", sampler, {.tokens = 4}).text(); }) < small);
  CHECK(memory.now - before > std::size_t(1 << 18));
}

}  // namespace
