// Proves: encoder-decoders equal the original implementation, and their sessions keep to their source.
#include <numeric>

#include "inlay/inlay.h"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

using inlay::Sampler;
using inlay::TokenId;
using support::Golden;
using Logits = std::vector<float>;

constexpr auto written = "t5_written";  // the one that every checkout has

Golden the(const std::string& name) {
  for (auto& golden : support::goldens("arch", "seq2seq"))
    if (golden.name == name) return golden;
  throw std::runtime_error("no fixture " + name);
}

inlay::Model load(const Golden& golden, inlay::CacheType cache, const std::string& isa = {}) {
  inlay::LoadOptions options{.threads = 2, .isa = isa};
  options.keys = options.values = cache;
  return inlay::Model::load(golden.model, options);
}

std::vector<int> all_of(const std::vector<int>& tokens) {
  std::vector<int> positions(tokens.size());
  std::iota(positions.begin(), positions.end(), 0);
  return positions;
}

std::vector<TokenId> rest_of(inlay::Generation generation) {
  std::vector<TokenId> made;
  for (const auto& token : generation) made.push_back(token.id);
  return made;
}

void check_blocks(const Golden& golden, const inlay::Model& model, double tolerance) {
  for (const auto& block : golden.blocks) {
    INFO(golden.name << " " << block.sequence << " " << block.kind << " on " << model.info().isa);
    const auto& source = golden.sources.at(block.sequence);
    if (block.kind == "encoder_states") {
      const auto rows = model.embed(source, {.pooling = inlay::Pooling::none, .normalize = false});
      CHECK(support::largest_difference(rows.values, block.values) <= tolerance);
      continue;
    }
    auto session = model.session();
    session.read_source(source);
    CHECK(support::largest_difference(session.evaluate(golden.sequences.at(block.sequence), block.positions),
                                      block.values) <= tolerance);
  }
}

TEST_CASE("encoder-decoders equal the original implementation on every instruction set") {
  for (const auto& golden : support::goldens("arch", "seq2seq"))
    for (const auto& isa : support::instruction_sets()) {
      const auto exact = load(golden, inlay::CacheType::f32, isa);
      check_blocks(golden, exact, golden.abs_f32);
      auto session = exact.session();
      CHECK(rest_of(session.generate(golden.sources.at(golden.greedy_prompt), Sampler::greedy(),
                                     {.tokens = int(golden.greedy.size()), .ignore_end = true})) == golden.greedy);
      check_blocks(golden, load(golden, inlay::CacheType::f16, isa), golden.abs_reduced);
      support::count("arch", 1);
    }
}

TEST_CASE("what is written in pieces, in forks, after a rewind or beside other sources has the same bits") {
  for (const auto& golden : support::goldens("arch", "seq2seq")) {
    const auto model = load(golden, inlay::CacheType::f16);
    const auto &source = golden.sources.at("long"), &tokens = golden.sequences.at("long");
    auto whole = model.session(), pieces = model.session(), other = model.session();
    whole.read_source(source), pieces.read_source(source), other.read_source(golden.sources.at("s17"));
    const Logits expected = whole.evaluate(tokens, all_of(tokens));
    Logits got;
    for (std::size_t begin = 0, size = 1; begin < tokens.size(); begin += size, size = 3 * size % 7 + 1) {
      const std::vector<int> piece(tokens.begin() + std::ptrdiff_t(begin),
                                   tokens.begin() + std::ptrdiff_t(std::min(tokens.size(), begin + size)));
      const auto logits = pieces.evaluate(piece, all_of(piece));
      got.insert(got.end(), logits.begin(), logits.end());
    }
    CHECK(got == expected);
    CHECK(other.evaluate(tokens, all_of(tokens)) != expected);
    whole.rewind(5);
    auto fork = whole.fork();
    const std::vector<int> rest(tokens.begin() + 5, tokens.end());
    const Logits tail(expected.begin() + std::ptrdiff_t(5 * expected.size() / tokens.size()), expected.end());
    CHECK(fork.evaluate(rest, all_of(rest)) == tail);
    CHECK(whole.evaluate(rest, all_of(rest)) == tail);
  }
}

TEST_CASE("a prompt is a source: each begins anew, and an empty one goes on") {
  const auto golden = the(written);
  const auto model = load(golden, inlay::CacheType::f32);
  const auto &first = golden.sources.at("s17"), &second = golden.sources.at("long");
  const auto say = [](inlay::Session& session, const std::vector<int>& prompt, int count) {
    return rest_of(session.generate(prompt, Sampler::greedy(), {.tokens = count, .ignore_end = true}));
  };
  auto session = model.session();
  const auto answer = say(session, first, 6);
  CHECK(session.tokens().size() == 7);  // with the token that writing begins with
  auto fresh = model.session();
  CHECK(say(session, second, 6) == say(fresh, second, 6));
  CHECK(say(session, first, 3) == std::vector(answer.begin(), answer.begin() + 3));
  CHECK(say(session, {}, 3) == std::vector(answer.begin() + 3, answer.end()));
}

TEST_CASE("a source that is cancelled or refused leaves the session as it was") {
  const auto golden = the(written);
  const auto model = load(golden, inlay::CacheType::f32);
  auto session = model.session();
  session.read_source(golden.sources.at("s17"));
  const auto& tokens = golden.sequences.at("s17");
  const std::vector<int> head(tokens.begin(), tokens.begin() + 9), tail(tokens.begin() + 9, tokens.end());
  session.evaluate(head);
  auto untouched = session.fork();

  std::stop_source stop;
  stop.request_stop();
  auto cancelled = session.generate(golden.sources.at("long"), {}, {.cancel = stop.get_token()});
  CHECK(cancelled.finish() == inlay::Finish::cancelled);
  CHECK_THROWS_AS(session.read_source(std::vector<int>{1, 1 << 20}), inlay::Error);
  CHECK_THROWS_AS(session.read_source(std::vector<int>(513, 5)), inlay::Error);
  CHECK_THROWS_AS(session.read_source({}), inlay::Error);
  CHECK(std::ranges::equal(session.tokens(), head));
  CHECK(session.evaluate(tail, all_of(tail)) == untouched.evaluate(tail, all_of(tail)));
}

template <class Act>
inlay::Errc refusal(const Act& act) {
  try {
    act();
  } catch (const inlay::Error& error) {
    return error.code();
  }
  return inlay::Errc{};
}

TEST_CASE("what an encoder-decoder cannot do is refused, and so is a source for other models") {
  const auto golden = the(written);
  const auto model = load(golden, inlay::CacheType::f32);
  CHECK(model.info().encoder_decoder);
  auto session = model.session();
  CHECK(refusal([&] { session.evaluate(std::vector<int>{0}); }) == inlay::Errc::argument);
  CHECK(refusal([&] { rest_of(session.generate("")); }) == inlay::Errc::argument);
  CHECK(session.tokens().empty());
  session.read_source(golden.sources.at("s17"));
  CHECK(refusal([&] { inlay::Chat chat(model); }) == inlay::Errc::unsupported);

  const auto llama = inlay::Model::load((support::data() / "arch" / "llama.gguf").string());
  CHECK(!llama.info().encoder_decoder);
  auto plain = llama.session();
  CHECK(refusal([&] { plain.read_source(std::vector<int>{1}); }) == inlay::Errc::argument);
}

TEST_CASE("the C door reads sources too") {
  const auto golden = the(written);
  const auto &source = golden.sources.at("s17"), &tokens = golden.sequences.at("s17");
  const auto model = load(golden, inlay::CacheType::automatic);
  auto session = model.session();
  session.read_source(source);

  inlay_error error;
  inlay_model* c_model = nullptr;
  inlay_session* c_session = nullptr;
  REQUIRE(inlay_model_load(inlay_string(golden.model.c_str()), nullptr, &c_model, &error) == INLAY_OK);
  inlay_info info = INLAY_INFO_INIT;
  CHECK((inlay_model_info(c_model, &info, &error) == INLAY_OK && info.encoder_decoder));
  REQUIRE(inlay_session_new(c_model, nullptr, &c_session, &error) == INLAY_OK);
  CHECK(inlay_session_read_source(c_session, source.data(), 0, &error) == INLAY_ARGUMENT);
  CHECK(inlay_session_read_source(c_session, source.data(), source.size(), &error) == INLAY_OK);
  Logits logits(std::size_t(info.vocabulary));
  CHECK(inlay_session_evaluate(c_session, tokens.data(), tokens.size(), nullptr, 0, logits.data(), logits.size(),
                               &error) == INLAY_OK);
  CHECK(logits == session.evaluate(tokens));
  inlay_session_free(c_session), inlay_model_free(c_model);
}

TEST_CASE("sources share the cache's memory and give it back") {
  const auto golden = the(written);
  const auto per_page = inlay::Model::plan(golden.model).page;
  inlay::LoadOptions options{.cache_bytes = 3 * std::size_t(per_page)};  // two for a source of 64 tokens, one to write
  options.reuse_prefixes = false;
  const auto model = inlay::Model::load(golden.model, options);
  for (int i = 0; i < 3; ++i) {
    auto session = model.session();
    session.read_source(golden.sources.at("long"));
    auto second = model.session();
    CHECK(refusal([&] { second.read_source(golden.sources.at("long")); }) == inlay::Errc::memory);
    auto fork = session.fork();
    CHECK(fork.evaluate(golden.sequences.at("s17")).size() == std::size_t(model.info().vocabulary));
  }
}

}  // namespace
