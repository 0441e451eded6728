// Proves: a forward pass opens one parallel region, and a layer of llama waits five times for one token and ten times
// for a prompt, on which the speed of small models rests.
#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "runtime/engine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using namespace inlay;

inlay_counters counters_of(const runtime::Engine& engine) {
  inlay_counters counters = {.size = sizeof counters};
  engine.device().table().counters(engine.device().handle(), &counters);
  return counters;
}

TEST_CASE("a llama layer takes five phases for one token, and ten for a prompt") {
  const auto file = gguf::File::open(support::nano());
  const auto name = file.text("general.architecture");
  REQUIRE(name == "llama");
  const auto layers = std::uint64_t(file.integer("llama.block_count", 0));
  constexpr std::uint64_t around = 5;  // before the first layer and after the last
  for (const int threads : {1, 2}) {
    runtime::Engine engine(file,
                           base::make<runtime::Device>(std::pmr::new_delete_resource(), cpu::backend(),
                                                       runtime::DeviceOptions{.threads = threads}),
                           {.cache = {.most_bytes = std::size_t{1} << 24},
                            .architecture = &api::find_architecture(name, {}),
                            .vocabulary = int(file.integer("llama.vocab_size", 0))});
    runtime::Sequence sequence;
    for (const int tokens : {1, 100, 1}) {
      sequence.tokens.resize(sequence.tokens.size() + std::size_t(tokens), 1);
      const auto before = counters_of(engine);
      runtime::Engine::Rows logits;
      const int last = tokens - 1;
      const runtime::Reading reading = {&sequence, tokens, {&last, 1}};
      engine.read({&reading, 1}, logits);
      const auto after = counters_of(engine);
      CHECK(after.regions - before.regions == 1);
      const auto most = (tokens == 1 ? 5 : 10) * layers + around;
      CAPTURE(threads, tokens, layers);
      CHECK(after.barriers - before.barriers <= most);
    }
    engine.release(sequence);
  }
}

}  // namespace
