// Proves: what a model, its sessions and batches keep comes from the host's memory, and writing on takes nothing from
// the heap.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory_resource>

#include "tests/support/catch.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;

// Memory that is not the heap's.
class Beside final : public std::pmr::memory_resource {
 public:
  std::size_t now = 0, allocations = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    align = std::max(align, alignof(std::max_align_t));
    void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (!memory) throw std::bad_alloc();
    now += bytes;
    ++allocations;
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    now -= bytes;
    std::free(memory);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// Bytes of the heap that the texts of a model's info take, which are standard strings.
std::size_t of_texts(const inlay::ModelInfo& info) {
  std::size_t bytes = 0;
  for (const auto* text : {&info.name, &info.architecture, &info.quantization, &info.license, &info.chat_template,
                           &info.device, &info.isa})
    if (text->capacity() > std::string().capacity()) bytes += text->capacity() + 1;
  return bytes;
}

void serially(int n, const std::function<void(int)>& body) {
  for (int i = 0; i < n; ++i) body(i);
}

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

// Of a text's tokens, those after the first hundred. Lists of tokens and pages grow now and then, in the host's memory,
// and some steps of a sampler work there.
void check_writing(const Sampler& sampler, bool plain) {
  constexpr int warm = 100, more = 300;
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .memory = &memory});
  auto session = model.session({.speculate = false});
  auto reply = session.generate("Once upon a time", sampler, {.tokens = warm + more, .ignore_end = true});
  std::size_t of_heap = 0, of_host = 0;
  int made = 0;
  for ([[maybe_unused]] const auto& token : reply)
    if (++made == warm) of_heap = heap::allocations(), of_host = memory.allocations;
  CHECK(made == warm + more);
  CHECK(heap::allocations() == of_heap);
  if (plain) CHECK(memory.allocations - of_host < more / 4);
}

TEST_CASE("a token that is not guessed takes nothing from the heap") {
  check_writing(Sampler::greedy(), true);
  check_writing({.seed = 1}, true);
  check_writing({.repeat_penalty = 1.1f, .top_k = 0, .typical_p = 0.9f, .seed = 2}, false);
}

TEST_CASE("a step of a batch takes nothing from the heap") {
  constexpr int sessions = 4, warm = 100, more = 200;
  Beside memory;
  const auto model = support::load_nano({.threads = 1, .memory = &memory});
  std::vector<inlay::Session> all;
  inlay::Batch batch(model);
  for (int i = 0; i < sessions; ++i)
    batch.submit(all.emplace_back(model.session()), "One day", {.seed = std::uint64_t(i)},
                 {.tokens = warm + more, .ignore_end = true});
  std::size_t of_heap = 0;
  int made = 0;
  for (const auto& event : batch) {
    REQUIRE(event.error.empty());
    ++made;
    if (made == warm * sessions) of_heap = heap::allocations();
    if (made == (warm + more - 1) * sessions) CHECK(heap::allocations() == of_heap);
  }
  CHECK(made == (warm + more) * sessions);
}

}  // namespace
