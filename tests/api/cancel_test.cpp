// Proves: a step asks whether it is wanted before each layer and before what follows the last, and runs nothing after
// it has heard that it is not: at most one layer's operations are run after a cancel.
#include <filesystem>
#include <numeric>

#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "runtime/engine.hpp"
#include "tests/support/batches.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/models.hpp"
#include "text/tokenizer.hpp"

namespace {

using inlay::runtime::Engine;
using inlay::runtime::Reading;
using inlay::runtime::Sequence;

struct Opened {
  Opened(const std::string& path, const std::string& isa, int threads)
      : file(inlay::gguf::File::open(path)),
        engine(file,
               inlay::base::make<inlay::runtime::Device>(std::pmr::new_delete_resource(), inlay::cpu::backend(),
                                                         inlay::runtime::DeviceOptions{.threads = threads, .isa = isa}),
               {.cache = {.page = 4, .most_bytes = std::size_t(16) << 20},
                .architecture = &inlay::api::find_architecture(file.text("general.architecture"), {}),
                .vocabulary = inlay::text::Tokenizer::from(file)->size()}) {}

  int layers() const { return int(file.integer(std::string(file.text("general.architecture")) + ".block_count", 0)); }
  // Of kernels, phases; of the reference, operations.
  std::uint64_t run_so_far() const {
    inlay_counters counters = {.size = sizeof counters};
    engine.device().table().counters(engine.device().handle(), &counters);
    return counters.barriers;
  }

  inlay::gguf::File file;
  Engine engine;
};

// What a step of so many tokens runs when it is told to stop where it asks for the k-th time; and how often it asks.
struct Ran {
  std::uint64_t count = 0;
  int asked = 0;
  bool whole = false;
};
Ran ran(Opened& opened, int tokens, int k) {
  Sequence sequence;
  sequence.tokens.resize(std::size_t(tokens));
  std::iota(sequence.tokens.begin(), sequence.tokens.end(), 1);
  const int last = tokens - 1;
  const Reading reading{&sequence, tokens, {&last, 1}};
  Engine::Rows logits;
  Ran ran;
  const auto before = opened.run_so_far();
  try {
    opened.engine.read({&reading, 1}, logits, [&] { return ++ran.asked > k; });
    ran.whole = true;
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::cancelled);
    CHECK(sequence.cached == 0);
    CHECK(sequence.pages.empty());
  }
  ran.count = opened.run_so_far() - before;
  opened.engine.release(sequence);
  return ran;
}

std::vector<std::string> models() {
  std::vector<std::string> found = {support::nano()};
  for (const auto& folder : support::folders("arch"))
    for (const auto* name : {"mixtral", "deepseek_v3", "mamba2_b", "jamba"})
      if (const auto path = folder / (std::string(name) + ".gguf"); std::filesystem::exists(path))
        found.push_back(path.string());
  return found;
}

TEST_CASE("a step that is cancelled anywhere runs at most one layer on") {
  for (const auto& path : models())
    for (const auto& [isa, threads] : {std::pair("reference", 1), {"", 1}, {"", 2}})
      for (const int tokens : {1, 20}) {
        Opened opened(path, isa, threads);
        const int layers = opened.layers();
        CAPTURE(path, isa, threads, tokens, layers);
        const auto all = ran(opened, tokens, INT_MAX);
        REQUIRE(all.whole);
        REQUIRE(layers > 0);
        CHECK(all.asked == layers + 1);
        std::uint64_t before = 0;
        for (int k = 0; k <= layers; ++k) {
          const auto some = ran(opened, tokens, k);
          CHECK_FALSE(some.whole);
          CHECK(some.asked == k + 1);
          CHECK(some.count > before);  // something is between any two questions, the embedding before the first
          before = some.count;
        }
        CHECK(all.count > before);
      }
}

// How often a request of a batch hears of its progress that is cancelled while its second step runs, alone or beside
// one that writes.
int told(bool beside) {
  std::stop_source stop;
  int regions = -1000, told = 0;  // while it is loaded
  const auto model = support::load_nano({.threads = 2, .parallel = [&](int n, const std::function<void(int)>& body) {
                                           if (++regions == 2) stop.request_stop();
                                           for (int i = 0; i < n; ++i) body(i);
                                         }});
  auto cancelled = model.session(), other = model.session();
  inlay::Batch batch(model, {.tokens_per_step = 8, .steps_of_delay = 0});
  if (beside) batch.submit(other, support::text(2, 2), {}, {.tokens = 5, .ignore_end = true});
  const auto id = batch.submit(cancelled, support::text(40, 1), {},
                               {.cancel = stop.get_token(), .progress = [&](int, int) { ++told; }});
  regions = 0;
  for (const auto& event : batch) {
    CHECK(event.error.empty());
    if (event.id == id) CHECK(event.finish == inlay::Finish::cancelled);
  }
  CHECK(cancelled.tokens().empty());
  return told;
}

TEST_CASE("a step of a batch ends between layers where nobody wants it, and goes on where somebody does") {
  CHECK(told(false) == 1);
  CHECK(told(true) == 2);
}

}  // namespace
