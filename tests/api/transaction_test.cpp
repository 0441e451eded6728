// Proves: a step that fails at any of its operations, or for want of any piece of memory, leaves every session as it
// was.
#include <array>
#include <filesystem>
#include <memory_resource>

#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "runtime/engine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"
#include "text/tokenizer.hpp"

namespace {

using inlay::runtime::Engine;
using inlay::runtime::Reading;
using inlay::runtime::Sequence;
using Bytes = std::vector<std::byte>;

// The CPU with a step that stops: only its first operations run, and then it reports a failure.
struct Stopping {
  static inline long left = -1;  // operations until then; below zero: it does not stop
  static inline bool stopped = false;

  template <class Op, void (*inlay_ops::*member)(inlay_device*, const Op*)>
  static void forward(inlay_device* device, const Op* op) {
    if (left == 0) stopped = true;
    if (stopped) return;
    --left;
    (inlay::cpu::backend()->ops->*member)(device, op);
  }
  static int end(inlay_device* device, char* message, std::size_t capacity) {
    const int status = inlay::cpu::backend()->end(device, message, capacity);
    return std::exchange(stopped, false) ? int(INLAY_STEP_DEVICE) : status;
  }
  static const inlay_backend* backend() {
    static const inlay_ops ops = {sizeof(inlay_ops),
                                  forward<inlay_embed_op, &inlay_ops::embed>,
                                  forward<inlay_norm_op, &inlay_ops::norm>,
                                  forward<inlay_linear_op, &inlay_ops::linear>,
                                  forward<inlay_binary_op, &inlay_ops::binary>,
                                  forward<inlay_glu_op, &inlay_ops::glu>,
                                  forward<inlay_rope_op, &inlay_ops::rope>,
                                  forward<inlay_attention_op, &inlay_ops::attention>,
                                  forward<inlay_pick_op, &inlay_ops::pick>,
                                  forward<inlay_route_op, &inlay_ops::route>,
                                  forward<inlay_experts_op, &inlay_ops::experts>,
                                  forward<inlay_scan_op, &inlay_ops::scan>};
    static const inlay_backend table = [] {
      auto copy = *inlay::cpu::backend();
      copy.ops = &ops, copy.end = end;
      return copy;
    }();
    return &table;
  }
};

// Device memory of which one piece is refused.
class Refusing final : public std::pmr::memory_resource {
 public:
  long countdown = -1;

 private:
  void* do_allocate(std::size_t bytes, std::size_t align) override {
    if (countdown >= 0 && countdown-- == 0) throw std::bad_alloc();
    return std::pmr::new_delete_resource()->allocate(bytes, align);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t align) override {
    std::pmr::new_delete_resource()->deallocate(memory, bytes, align);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
};

// Sessions of one engine: two forks that share a page which both are about to write, and one that begins.
struct Sessions {
  explicit Sessions(const std::string& path)
      : file(inlay::gguf::File::open(path)),
        engine(
            file,
            inlay::base::make<inlay::runtime::Device>(std::pmr::new_delete_resource(), Stopping::backend(),
                                                      inlay::runtime::DeviceOptions{.threads = 1, .memory = &memory}),
            {.cache = {.page = 4, .most_bytes = std::size_t(64) << 20},
             .architecture = &inlay::api::find_architecture(file.text("general.architecture"), {}),
             .vocabulary = inlay::text::Tokenizer::from(file)->size()}) {
    all[0].tokens = {1, 5, 9, 2, 7, 7};
    read_all(1);
    all[1] = engine.fork(all[0]);
    for (auto& sequence : all) sequence.tokens.insert(sequence.tokens.end(), {3, 11, 4});
  }
  ~Sessions() {
    for (auto& sequence : all) engine.release(sequence);
  }

  void read_all(std::size_t n) {
    std::vector<Reading> readings;
    std::array<int, 3> last = {};
    for (std::size_t i = 0; i < n; ++i) {
      const int count = int(all[i].tokens.size() - all[i].cached);
      last[i] = count - 1;
      readings.push_back({&all[i], count, {&last[i], 1}});
    }
    engine.read(readings, logits);
  }

  Bytes state(const Sequence& sequence) const {
    Bytes bytes;
    engine.save(sequence, 0,
                [&](std::span<const std::byte> more) { bytes.insert(bytes.end(), more.begin(), more.end()); });
    return bytes;
  }

  Refusing memory;
  inlay::gguf::File file;
  Engine engine;
  std::array<Sequence, 3> all;
  Engine::Rows logits;
};

// Fails `prepare`d steps until one succeeds, which must be as if there had been no failures.
template <class Prepare>
long fail_everywhere(const std::string& path, inlay::Errc code, const Prepare& prepare) {
  Sessions undisturbed(path);
  undisturbed.read_all(3);
  Sessions sessions(path);
  std::array<Bytes, 3> before;
  for (std::size_t i = 0; i < 3; ++i) before[i] = sessions.state(sessions.all[i]);
  const bool recurrent = sessions.all[0].slot >= 0;
  for (long k = 0;; ++k) {
    bool failed = false;
    try {
      prepare(sessions, k);
      sessions.read_all(3);
    } catch (const inlay::Error& error) {
      failed = true;
      prepare(sessions, -1);
      if (error.code() != code) FAIL(error.what());
    }
    prepare(sessions, -1);
    if (!failed) {
      REQUIRE(sessions.logits == undisturbed.logits);
      for (std::size_t i = 0; i < 3; ++i)
        REQUIRE(sessions.state(sessions.all[i]) == undisturbed.state(undisturbed.all[i]));
      return k;
    }
    // A recurrent state is gone with the step; its tokens are read again with the next one.
    for (std::size_t i = 0; i < 3; ++i)
      if (!recurrent) REQUIRE(sessions.state(sessions.all[i]) == before[i]);
  }
}

std::vector<std::string> models() {
  std::vector<std::string> found;
  for (const auto& folder : support::folders("arch"))
    for (const auto* name : {"llama", "mixtral", "deepseek_v3", "mamba2_b", "jamba"})
      if (const auto path = folder / (std::string(name) + ".gguf"); std::filesystem::exists(path))
        found.push_back(path.string());
  return found;
}

TEST_CASE("a step that the device ends at any operation changes no session") {
  for (const auto& path : models()) {
    INFO(path);
    const auto operations = fail_everywhere(path, inlay::Errc::device, [](Sessions&, long k) { Stopping::left = k; });
    CHECK(operations > 5);
  }
}

TEST_CASE("a step that any piece of device memory is refused changes no session") {
  for (const auto& path : models()) {
    INFO(path);
    const auto pieces = fail_everywhere(path, inlay::Errc::memory, [](Sessions& s, long k) { s.memory.countdown = k; });
    CHECK(pieces >= 1);
  }
}

}  // namespace
