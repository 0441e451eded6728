// Proves: what grows with the model, the vocabulary or the context comes from the host's memory, not from the heap.
#include <cstdlib>
#include <filesystem>
#include <memory_resource>

#include "tests/support/catch.hpp"
#include "tests/support/heap.hpp"
#include "tests/support/models.hpp"

namespace {

// Memory that is not the heap's.
class Beside final : public std::pmr::memory_resource {
 public:
  std::size_t now = 0;

 private:
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    void* memory = std::aligned_alloc(align, (bytes + align - 1) / align * align);
    if (!memory) throw std::bad_alloc();
    now += bytes;
    return memory;
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    now -= bytes;
    std::free(memory);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

}  // namespace

TEST_CASE("what grows with the model and the context comes from the host's memory") {
  Beside memory;
  const std::size_t before = heap::used();
  const auto model = support::load_nano({.threads = 1, .memory = &memory});
  CHECK(memory.now > std::size_t(5) << 20);
  CHECK(heap::used() - before < std::size_t(256) << 10);

  auto session = model.session();
  const auto write = [&] {
    session.generate("Once upon a time", inlay::Sampler::greedy(), {.tokens = 100, .ignore_end = true}).text();
  };
  write();
  const std::size_t after_one = heap::used();
  for (int i = 0; i < 4; ++i) write();
  CHECK(heap::used() - after_one <= 4 * 105 * 16);  // the tokens, as the session and as the prefix tree know them
}

TEST_CASE("a vocabulary comes from the host's memory") {
  std::size_t vocabularies = 0;
  for (const auto& folder : support::folders("tokenizer")) {
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".gguf") continue;
      INFO(entry.path());
      Beside memory;
      const std::size_t before = heap::used();
      const auto model =
          inlay::Model::load(entry.path().string(), {.threads = 1, .memory = &memory, .vocabulary_only = true});
      CHECK(heap::used() - before < (std::size_t(256) << 10) + 2 * model.info().chat_template.size());
      ++vocabularies;
    }
  }
  CHECK((vocabularies > 0 || support::folders("tokenizer").empty()));
}
