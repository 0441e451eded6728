// Proves: every architecture's logits and greedy continuation equal those of the original implementation.
#include "tests/models/golden.hpp"
#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using support::Golden;

// Some models choose their rotation by the configured context: the long sequence of those has one of its own.
void check_logits(const Golden& golden, inlay::LoadOptions options, double tolerance) {
  for (const auto& block : golden.blocks) {
    if (golden.context) options.context = block.sequence == "long" ? golden.context : 256;
    const auto model = inlay::Model::load(golden.model, options);
    auto session = model.session();
    const auto logits = session.evaluate(golden.sequences.at(block.sequence), block.positions);
    INFO(golden.name << " " << block.sequence << " on " << model.info().isa);
    REQUIRE(logits.size() == block.values.size());
    CHECK(support::largest_difference(logits, block.values) <= tolerance);
  }
}

void check_greedy(const Golden& golden, inlay::LoadOptions options) {
  if (golden.context) options.context = 256;
  const auto model = inlay::Model::load(golden.model, options);
  auto session = model.session();
  std::vector<inlay::TokenId> made;
  auto generation = session.generate(golden.sequences.at(golden.greedy_prompt), inlay::Sampler::greedy(),
                                     {.tokens = int(golden.greedy.size()), .ignore_end = true});
  for (const auto& token : generation) made.push_back(token.id);
  INFO(golden.name << " on " << model.info().isa);
  CHECK(made == golden.greedy);
}

// Architectures of fixtures that this version does not have are left out, and counted as that.
bool known(const Golden& golden) {
  try {
    inlay::Model::load(golden.model);
    return true;
  } catch (const inlay::Error& error) {
    if (error.where() != "general.architecture") throw;
    support::count("arch-not-here", 1);
    return false;
  }
}

TEST_CASE("logits equal the original implementation's on every instruction set") {
  for (const auto& golden : support::goldens("arch", "causal")) {
    // gpt_oss_trunc rounds YaRN's bounds, which no key of the file says; released models do not, as gpt_oss.
    if (!known(golden) || golden.name == "gpt_oss_trunc") continue;
    for (const auto& isa : support::instruction_sets()) {
      inlay::LoadOptions options{.threads = 2, .isa = isa};
      options.keys = options.values = inlay::CacheType::f32;
      check_logits(golden, options, golden.abs_f32);
      check_greedy(golden, options);
      options.keys = options.values = inlay::CacheType::f16;
      check_logits(golden, options, golden.abs_reduced);
      support::count("arch", 1);
    }
  }
}

template <class Call>
bool is_refused(const Call& call) {
  try {
    call();
    return false;
  } catch (const inlay::Error& error) {
    return error.code() == inlay::Errc::unsupported;
  }
}

TEST_CASE("models that fill texts in equal the original implementation's logits, and refuse to write on") {
  for (const auto& golden : support::goldens("arch", "filling")) {
    for (const auto& isa : support::instruction_sets())
      check_logits(golden, {.threads = 2, .isa = isa}, golden.abs_f32);
    const auto model = inlay::Model::load(golden.model);
    auto session = model.session();
    const auto& tokens = golden.sequences.at("s17");
    const auto whole = session.evaluate(tokens);
    INFO(golden.name);
    CHECK(is_refused([&] { session.generate(tokens, inlay::Sampler::greedy()); }));
    CHECK(is_refused([&] { session.score("a"); }));
    CHECK(is_refused([&] { session.explain({}); }));
    CHECK(is_refused([&] { inlay::Batch batch(model); }));
    // What is appended changes what was made of the tokens before, as if all were read at once.
    session.rewind(0);
    session.evaluate(std::span(tokens).first(5));
    CHECK(session.evaluate(std::span(tokens).subspan(5)) == whole);
    support::count("arch", 1);
  }
}

}  // namespace
