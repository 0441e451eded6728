// The device: how it is opened, how few regions and barriers a step takes, cancellation, and memory that runs out.
#include <cstdlib>
#include <cstring>
#include <string>

#include "cpu/cpu.hpp"
#include "tests/support/catch.hpp"

namespace {

const inlay_backend& backend() { return *inlay::cpu::backend(); }

struct Opened {
  char message[256] = "";
  inlay_device* device;

  explicit Opened(inlay_host host) : device(backend().open(&host, message, sizeof message)) {}
  ~Opened() { backend().close(device); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;
};

inlay_host host_with(int threads, const char* isa = nullptr) {
  return {.size = sizeof(inlay_host), .threads = threads, .isa = isa};
}

// A step of `layers` linear layers over one token, each behind a layer mark.
struct Chain {
  static constexpr int width = 64;
  alignas(64) float values[2][width] = {};
  std::vector<float> weights;
  inlay_tensor x[2], file, packed = {};
  const inlay_tensor *y[2], *w[1];
  inlay_linear_op ops[2];
  std::int32_t ids[1] = {}, starts[2] = {0, 1};
  inlay_batch batch = {.size = sizeof batch, .tokens = 1, .seqs = 1, .ids = ids, .query_start = starts};
  void* memory;
  std::size_t bytes;
  inlay_device* device;

  explicit Chain(inlay_device* opened) : weights(width * width, 0.0f), device(opened) {
    for (int i = 0; i < width; ++i) weights[i * width + (i + 1) % width] = 1;  // y[i] = x[i + 1]
    for (int i = 0; i < width; ++i) values[0][i] = static_cast<float>(i);
    for (int i = 0; i < 2; ++i) x[i] = {values[i], INLAY_F32, 2, {1, width}, {width * sizeof(float)}};
    file = {weights.data(), INLAY_F32, 2, {width, width}, {width * sizeof(float)}};
    bytes = backend().pack(device, &file, INLAY_ROLE_MATRIX, 0, 0, &packed);
    packed.data = memory = backend().alloc(device, bytes);
    backend().pack(device, &file, INLAY_ROLE_MATRIX, 0, width, &packed);
    w[0] = &packed;
    for (int i = 0; i < 2; ++i) {
      y[i] = &x[1 - i];
      ops[i] = {.size = sizeof(inlay_linear_op), .n = 1, .x = &x[i], .y = &y[i], .w = w};
    }
  }
  ~Chain() { backend().release(device, memory, bytes); }

  int run(int layers, char* message = nullptr, std::size_t capacity = 0) {
    backend().begin(device, &batch);
    for (int i = 0; i < layers; ++i) {
      backend().mark(device, i);
      backend().ops->linear(device, &ops[i % 2]);
    }
    return backend().end(device, message, capacity);
  }
};

inlay_counters counters_of(inlay_device* device) {
  inlay_counters counters = {.size = sizeof counters};
  backend().counters(device, &counters);
  return counters;
}

}  // namespace

TEST_CASE("an unknown instruction set is refused with the usable ones, and none takes the best") {
  const Opened wrong(host_with(1, "abacus"));
  CHECK(wrong.device == nullptr);
  const std::string message = wrong.message;
  CHECK(message.find("abacus") != std::string::npos);
  CHECK(message.find("reference") != std::string::npos);
  const Opened best(host_with(1));
  REQUIRE(best.device);
  CHECK(message.find(backend().isa(best.device)) != std::string::npos);
}

TEST_CASE("a step opens one region and waits once for each joined product") {
  for (const int threads : {1, 2, 3}) {
    const Opened opened(host_with(threads));
    REQUIRE(opened.device);
    Chain chain(opened.device);
    REQUIRE(chain.run(10) == INLAY_STEP_DONE);
    REQUIRE(chain.run(10) == INLAY_STEP_DONE);
    CHECK(chain.values[0][0] == 20);
    const inlay_counters counters = counters_of(opened.device);
    CHECK(counters.steps == 2);
    CHECK(counters.regions == 2);
    CHECK(counters.barriers == 20);
  }
}

TEST_CASE("a step is cancelled at a layer mark") {
  struct Patience {
    int left;
  } patience = {4};
  inlay_host host = host_with(2);
  host.self = &patience;
  host.cancelled = [](void* self) { return static_cast<Patience*>(self)->left-- == 0 ? 1 : 0; };
  const Opened opened(host);
  REQUIRE(opened.device);
  Chain chain(opened.device);
  char message[128] = "";
  CHECK(chain.run(10, message, sizeof message) == INLAY_STEP_CANCELLED);
  CHECK(std::strlen(message) > 0);
  CHECK(chain.values[0][0] == 4);
}

TEST_CASE("a host without memory gets a status, and its memory is all given back") {
  struct Memory {
    int allowed;
    long balance = 0;
  };
  for (int allowed = 0; allowed < 12; ++allowed) {
    Memory memory = {allowed};
    {
      inlay_host host = host_with(2);
      host.self = &memory;
      host.alloc = [](void* self, std::size_t bytes, std::size_t align) -> void* {
        auto& m = *static_cast<Memory*>(self);
        if (m.allowed-- <= 0) return nullptr;
        m.balance += static_cast<long>(bytes);
        return std::aligned_alloc(align, (bytes + align - 1) / align * align);
      };
      host.release = [](void* self, void* block, std::size_t bytes, std::size_t) {
        static_cast<Memory*>(self)->balance -= static_cast<long>(bytes);
        std::free(block);
      };
      const Opened opened(host);
      if (!opened.device) continue;
      memory.allowed += 1;  // the weight itself
      Chain chain(opened.device);
      if (!chain.memory) continue;
      const int status = chain.run(3);
      CHECK((status == INLAY_STEP_DONE || status == INLAY_STEP_MEMORY));
    }
    CHECK(memory.balance == 0);
  }
}

TEST_CASE("the workspace of a step is known before it runs") {
  const Opened opened(host_with(1));
  REQUIRE(opened.device);
  Chain chain(opened.device);
  backend().begin(opened.device, &chain.batch);
  backend().ops->linear(opened.device, &chain.ops[0]);
  CHECK(backend().workspace(opened.device, 1, 1, 1) > 0);
}
