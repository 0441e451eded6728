// Proves: what the host lends (memory, threads) is all that is used, and each of its failures ends in a typed error.
#include <algorithm>
#include <atomic>
#include <filesystem>
#include <memory_resource>
#include <thread>

#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;

// Counts what it gives, and fails one allocation. What the device takes begins at cache lines, and nothing else does.
class Failing final : public std::pmr::memory_resource {
 public:
  std::atomic<long> countdown{-1}, live{0}, given{0}, of_device{0}, peak_of_device{0};

 private:
  static constexpr std::size_t line = 64;

  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (countdown.fetch_sub(1) == 0) throw std::bad_alloc();
    ++given;
    live += long(bytes);
    if (align == line) peak_of_device = std::max(peak_of_device.load(), of_device += long(bytes));
    return std::pmr::new_delete_resource()->allocate(bytes, align);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t align) override {
    live -= long(bytes);
    if (align == line) of_device -= long(bytes);
    std::pmr::new_delete_resource()->deallocate(memory, bytes, align);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

std::string generate(const inlay::Model& model) {
  auto session = model.session();
  return session.generate("Once upon a time", Sampler::greedy(), {.tokens = 8}).text();
}

TEST_CASE("every allocation fails once: a typed error, nothing leaks, and the next try works") {
  Failing memory;
  const auto expected = generate(support::load_nano());
  long k = 0;
  for (bool done = false; !done; k += k < 40 ? 1 : 7) {
    memory.countdown = k;
    try {
      const auto model = support::load_nano({.threads = 1, .memory = &memory});
      const auto text = generate(model);
      CHECK(text == expected);
      done = memory.countdown >= 0;
    } catch (const inlay::Error& error) {
      CHECK(error.code() == inlay::Errc::memory);
    }
    REQUIRE(memory.live == 0);
  }
  CHECK(k > 40);
}

TEST_CASE("a session survives a failed step and continues as if nothing had happened") {
  Failing memory;
  const auto expected = generate(support::load_nano({.threads = 1}));
  const auto model = support::load_nano({.threads = 1, .memory = &memory});
  auto session = model.session();
  memory.countdown = 0;
  CHECK_THROWS_AS(session.generate("Once upon a time", Sampler::greedy(), {.tokens = 8}), inlay::Error);
  memory.countdown = -1;
  CHECK(session.tokens().empty());
  CHECK(session.generate("Once upon a time", Sampler::greedy(), {.tokens = 8}).text() == expected);
}

TEST_CASE("a plan is right to the byte, and never exceeded") {
  for (const int threads : {1, 3}) {
    const auto plan = inlay::Model::plan(support::nano(), {.threads = threads});
    CHECK(plan.per_token == 6 * 2 * 2 * 64 * 2);  // layers, keys and values, heads, head size, bytes
    CHECK(plan.page == 32 * plan.per_token);
    Failing memory;
    const auto model = support::load_nano({.threads = threads, .memory = &memory});
    CHECK(std::uint64_t(memory.of_device) == plan.weights);
    auto session = model.session();
    const auto read = [&](std::size_t tokens) { session.evaluate(std::vector<inlay::TokenId>(tokens, 300)); };
    read(3);
    CHECK(std::uint64_t(memory.of_device) <= plan.total(3));
    CHECK(std::uint64_t(memory.of_device) >= plan.weights + plan.segment);
    read(506), read(1), read(2);  // 512, but no step of so many
    CHECK(std::uint64_t(memory.of_device) <= plan.total(512));
    read(512);
    CHECK(std::uint64_t(memory.of_device) == plan.total(1024));
    CHECK(memory.peak_of_device - memory.of_device < 16 << 10);  // while a step's lists move
  }
}

TEST_CASE("where pages may move to a file, the plan counts them one by one") {
  Failing memory;
  const inlay::LoadOptions options{.threads = 1,
                                   .disk_bytes = std::size_t(1) << 24,
                                   .disk_folder = std::filesystem::temp_directory_path().string(),
                                   .memory = &memory};
  const auto plan = inlay::Model::plan(support::nano(), options);
  const auto model = inlay::Model::load(support::nano(), options);
  auto session = model.session();
  session.evaluate(std::vector<inlay::TokenId>(600, 300));
  CHECK(std::uint64_t(memory.of_device) == plan.total(600));
}

TEST_CASE("the plan of a model with states counts them") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"mamba2_b", "jamba", "lfm2", "qwen3_next"}) {
      const auto path = (arch / (std::string(name) + ".gguf")).string();
      if (!std::filesystem::exists(path)) continue;
      INFO(name);
      const auto plan = inlay::Model::plan(path, {.threads = 1, .context = 600});
      Failing memory;
      const auto model = inlay::Model::load(path, {.threads = 1, .context = 600, .memory = &memory});
      CHECK(std::uint64_t(memory.of_device) == plan.weights);
      const std::vector<inlay::TokenId> tokens(600, 1);
      model.embed(tokens, {.pooling = inlay::Pooling::last});
      CHECK(std::uint64_t(memory.of_device) <= plan.total(600));
      auto session = model.session();
      session.evaluate(tokens);
      CHECK(std::uint64_t(memory.of_device) == plan.total(600));
    }
}

TEST_CASE("a host may run the bodies one after another, or side by side") {
  const auto expected = generate(support::load_nano({.threads = 3}));
  const auto serial = [](int n, const std::function<void(int)>& body) {
    for (int i = 0; i < n; ++i) body(i);
  };
  const auto beside = [](int n, const std::function<void(int)>& body) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < n; ++i) threads.emplace_back([&body, i] { body(i); });
  };
  CHECK(generate(support::load_nano({.threads = 3, .parallel = serial})) == expected);
  CHECK(generate(support::load_nano({.threads = 3, .parallel = beside})) == expected);
}

TEST_CASE("many models and sessions on many threads give the serial results") {
  constexpr int models = 8, sessions = 8, threads = 4;
  const auto expected = generate(support::load_nano());
  std::vector<inlay::Model> loaded;
  for (int i = 0; i < models; ++i) loaded.push_back(support::load_nano());
  std::atomic<int> next = 0, right = 0;
  {
    std::vector<std::jthread> team;
    for (int t = 0; t < threads; ++t)
      team.emplace_back([&] {
        for (int i = next++; i < models * sessions; i = next++)
          right += generate(loaded[std::size_t(i % models)]) == expected;
      });
  }
  CHECK(right == models * sessions);
}

TEST_CASE("progress may cancel a load, and a name that is no instruction set is refused") {
  try {
    support::load_nano({.progress = [](float done) { return done < 0.5f; }});
    FAIL("loaded");
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::cancelled);
  }
  try {
    support::load_nano({.isa = "z80"});
    FAIL("loaded");
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::argument);
    CHECK(std::string(error.what()).find("reference") != std::string::npos);
  }
}

TEST_CASE("progress grows to its end with the last tensor, where one tensor serves as table and as matrix, too") {
  std::vector<float> told;
  const auto note = [&](float done) {
    told.push_back(done);
    return true;
  };
  support::load_nano({.progress = note});
  REQUIRE(told.size() > 2);
  CHECK(std::is_sorted(told.begin(), told.end()));
  CHECK(told.back() <= 1.f);
  CHECK(told[told.size() - 2] < told.back());
}

TEST_CASE("a model loads from memory and without weights") {
  const auto bytes = support::read(support::nano());
  const auto model = inlay::Model::load(std::as_bytes(std::span(bytes)), {.threads = 1});
  CHECK(generate(model) == generate(support::load_nano()));
  const auto words = support::load_nano({.vocabulary_only = true});
  CHECK(words.tokenize("Hello") == model.tokenize("Hello"));
  CHECK_THROWS_AS(words.session(), inlay::Error);
}

}  // namespace
