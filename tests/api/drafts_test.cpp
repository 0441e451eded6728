// Proves: tokens read ahead leave the same logits and the same session as tokens read one by one, right or wrong.
#include <array>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "runtime/engine.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"
#include "text/tokenizer.hpp"

namespace {

using inlay::TokenId;
using inlay::runtime::Engine;
using inlay::runtime::Reading;
using inlay::runtime::Sequence;

struct Opened {
  explicit Opened(const std::string& path, std::uint32_t type = INLAY_F16, std::size_t megabytes = 64, int threads = 1,
                  const std::string& isa = {})
      : file(inlay::gguf::File::open(path)),
        engine(file,
               inlay::base::make<inlay::runtime::Device>(std::pmr::new_delete_resource(), inlay::cpu::backend(),
                                                         inlay::runtime::DeviceOptions{.threads = threads, .isa = isa}),
               {.cache = {.k_type = type, .v_type = type, .page = 4, .most_bytes = megabytes << 20},
                .architecture = &inlay::api::find_architecture(file.text("general.architecture"), {}),
                .vocabulary = inlay::text::Tokenizer::from(file)->size()}) {}

  // Reads what is unread, with drafts; a row of logits for each.
  Engine::Rows read(Sequence& sequence, std::span<const TokenId> drafts = {}) {
    const auto reading = all_rows({&sequence, int(sequence.tokens.size() - sequence.cached), {}, drafts});
    Engine::Rows logits;
    engine.read({&reading, 1}, logits);
    return logits;
  }
  static Reading all_rows(Reading reading) {
    static const auto rows = [] {
      std::array<int, 1024> all = {};
      std::iota(all.begin(), all.end(), 0);
      return all;
    }();
    reading.wanted = std::span(rows).first(std::size_t(reading.rows()));
    return reading;
  }
  std::vector<std::byte> bytes(const Sequence& sequence) const {
    std::vector<std::byte> all;
    engine.save(sequence, 0, [&](std::span<const std::byte> part) { all.insert(all.end(), part.begin(), part.end()); });
    return all;
  }

  inlay::gguf::File file;
  Engine engine;
  std::size_t pages = engine.room().pages;
};

bool same_bits(std::span<const float> a, std::span<const float> b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size_bytes()) == 0;
}

const std::pmr::vector<TokenId> prompt = {1, 5, 9, 2, 7, 7, 3};
const std::vector<TokenId> right = {4, 6, 8, 12, 10, 1, 2}, wrong = {3, 3, 3};

// Right drafts, of which the first `accepted` are kept, then others: the session and its logits against a plain one's.
void compare(Opened& opened, std::size_t accepted) {
  auto& engine = opened.engine;
  const auto width = std::size_t(engine.vocabulary());
  Sequence ahead{.tokens = prompt}, plain{.tokens = prompt};
  opened.read(ahead), opened.read(plain);
  ahead.tokens.push_back(11), plain.tokens.push_back(11);
  const auto rows = opened.read(ahead, right);
  REQUIRE(ahead.cached == prompt.size() + 1);
  for (std::size_t i = 0; i <= accepted; ++i) {
    CHECK(same_bits(std::span(rows).subspan(i * width, width), opened.read(plain)));
    if (i == accepted) break;
    ahead.tokens.push_back(right[i]), plain.tokens.push_back(right[i]);
    engine.accept(ahead);
  }
  CHECK(opened.bytes(ahead) == opened.bytes(plain));
  ahead.tokens.push_back(13), plain.tokens.push_back(13);
  auto fork = engine.fork(ahead);  // shares the pages that hold what was not accepted
  const auto expected = opened.read(plain);
  const auto again = opened.read(ahead, wrong);
  CHECK(same_bits(std::span(again).first(width), expected));
  CHECK(same_bits(opened.read(fork), expected));
  CHECK(opened.bytes(ahead) == opened.bytes(plain));
  CHECK(opened.bytes(fork) == opened.bytes(plain));
  engine.drop_drafts(ahead);
  CHECK(ahead.pages.size() == plain.pages.size());
  for (auto* sequence : {&ahead, &plain, &fork}) engine.release(*sequence);
}

// Drafts, and two branches of them, in one step; the longer one is then gone on with.
void compare_branches(Opened& opened, const std::pmr::vector<TokenId>& begin = prompt) {
  auto& engine = opened.engine;
  const auto width = std::size_t(engine.vocabulary());
  const std::vector<TokenId> near = {9}, far = {5, 2, 6};
  const std::size_t from = 3;
  Sequence trunk{.tokens = begin}, plain{.tokens = begin};
  opened.read(trunk), opened.read(plain);
  trunk.tokens.push_back(11), plain.tokens.push_back(11);
  Sequence first, second;
  engine.branch(trunk, 1, first), engine.branch(trunk, from + 1, second);
  const Reading readings[] = {Opened::all_rows({&trunk, 1, {}, right}), Opened::all_rows({&first, 0, {}, near, 0, 1}),
                              Opened::all_rows({&second, 0, {}, far, 0, int(from) + 1})};
  Engine::Rows rows;
  engine.read(readings, rows);
  const auto row = [&](std::size_t i) { return std::span(rows).subspan(i * width, width); };
  auto other = engine.fork(plain);
  CHECK(same_bits(row(0), opened.read(plain)));
  CHECK(same_bits(row(0), opened.read(other)));
  other.tokens.push_back(near[0]);
  CHECK(same_bits(row(right.size() + 1), opened.read(other)));
  for (std::size_t i = 0; i < from; ++i) {
    plain.tokens.push_back(right[i]), trunk.tokens.push_back(right[i]);
    engine.accept(trunk);
    CHECK(same_bits(row(i + 1), opened.read(plain)));
  }
  engine.take_branch(trunk, second);
  for (std::size_t i = 0; i < far.size(); ++i) {
    plain.tokens.push_back(far[i]), trunk.tokens.push_back(far[i]);
    engine.accept(trunk);
    CHECK(same_bits(row(right.size() + 2 + i), opened.read(plain)));
  }
  CHECK(opened.bytes(trunk) == opened.bytes(plain));
  trunk.tokens.push_back(13), plain.tokens.push_back(13);
  CHECK(same_bits(opened.read(trunk), opened.read(plain)));
  engine.drop_drafts(trunk);
  CHECK(trunk.pages.size() == plain.pages.size());
  for (auto* sequence : {&trunk, &plain, &other, &first, &second}) engine.release(*sequence);
  engine.trim();
  CHECK(engine.room().pages == opened.pages);
}

TEST_CASE("every architecture without states reads drafts to the same bits") {
  std::size_t tried = 0;
  for (const auto& folder : support::folders("arch"))
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.path().extension() != ".gguf") continue;
      INFO(entry.path());
      try {
        Opened opened(entry.path().string());
        if (opened.engine.encodes() || !opened.engine.can_branch() || opened.engine.reads_source()) continue;
        for (const std::size_t accepted : {0, 3, 7}) compare(opened, accepted);
        compare_branches(opened);
        ++tried;
      } catch (const inlay::Error& error) {
        if (error.code() != inlay::Errc::unsupported) throw;
      }
    }
  CHECK(tried >= 4);
}

TEST_CASE("drafts fit every type of cache") {
  for (const auto type : {INLAY_F32, INLAY_BF16, INLAY_Q8_0, INLAY_Q4_0}) {
    Opened opened(support::nano(), std::uint32_t(type));
    for (const std::size_t accepted : {0, 2, 7}) compare(opened, accepted);
    compare_branches(opened);
  }
}

TEST_CASE("branches fit every instruction set, and parts of keys that several threads take") {
  auto sets = support::packing_instruction_sets();
  sets.push_back("reference");
  for (const auto& isa : sets) {
    INFO(isa);
    Opened opened(support::nano(), INLAY_F16, 64, 3, isa);
    compare_branches(opened);
    if (isa == "reference") continue;
    std::pmr::vector<TokenId> begin(510);
    for (std::size_t i = 0; i < begin.size(); ++i) begin[i] = TokenId(i * 37 % 3000);
    compare_branches(opened, begin);
  }
}

TEST_CASE("a step with branches that finds no memory changes nothing") {
  Opened opened(support::nano(), INLAY_F16, 1);
  auto& engine = opened.engine;
  std::vector<Sequence> all;
  const auto fill = [&] {
    for (;;) {
      all.push_back({.tokens = prompt, .salt = std::pmr::string(std::to_string(all.size()))});
      opened.read(all.back());
    }
  };
  CHECK_THROWS_AS(fill(), inlay::Error);
  auto& trunk = all.front();
  trunk.tokens.push_back(11);
  const auto before = opened.bytes(trunk);
  const auto pages = trunk.pages.size();
  Sequence branch;
  engine.branch(trunk, 1, branch);
  const std::vector<TokenId> drafts = {3};
  const Reading readings[] = {Opened::all_rows({&trunk, 1, {}, drafts}),
                              Opened::all_rows({&branch, 0, {}, drafts, 0, 1})};
  Engine::Rows rows;
  CHECK_THROWS_AS(engine.read(readings, rows), inlay::Error);
  CHECK(opened.bytes(trunk) == before);
  CHECK(trunk.pages.size() == pages);
  engine.release(branch);
  for (auto& one : all) engine.release(one);
}

TEST_CASE("nobody shares a draft that was not accepted") {
  Opened opened(support::nano());
  auto& engine = opened.engine;
  Sequence sequence{.tokens = prompt}, other;
  opened.read(sequence);
  sequence.tokens.push_back(11);
  opened.read(sequence, right);  // fills 15 places, of which 8 count
  other.tokens = prompt;
  other.tokens.push_back(11);
  other.tokens.insert(other.tokens.end(), right.begin(), right.end());
  CHECK(engine.reuse(other, other.tokens.size()).agreed <= 8);
  engine.release(other);
  for (const auto token : right) {
    sequence.tokens.push_back(token);
    engine.accept(sequence);
  }
  other.tokens = sequence.tokens;
  CHECK(engine.reuse(other, other.tokens.size()).read == 12);  // now they are like any other
  engine.release(other), engine.release(sequence);
}

TEST_CASE("a chat with a model that guesses says the same") {
  const auto model = support::load_nano();
  const auto draft = support::load_nano();
  inlay::Chat guessing(model, {.draft = &draft}), plain(model);
  for (const char* const text : {"My name is Rosa and my lucky number is 47.", "What is my lucky number?"}) {
    auto a = guessing.say(text, inlay::Sampler::greedy(), {.tokens = 30});
    auto b = plain.say(text, inlay::Sampler::greedy(), {.tokens = 30});
    CHECK(a.text() == b.text());
    CHECK(a.stats().accepted_tokens <= a.stats().drafted_tokens);
  }
}

TEST_CASE("a step with drafts that finds no memory changes nothing") {
  Opened opened(support::nano(), INLAY_F16, 1);
  auto& engine = opened.engine;
  Sequence sequence{.tokens = prompt};
  opened.read(sequence);
  sequence.tokens.push_back(11);
  const auto before = opened.bytes(sequence);
  std::vector<Sequence> others;
  const auto fill = [&] {
    for (;;) {
      others.push_back({.tokens = prompt, .salt = std::pmr::string(std::to_string(others.size()))});
      opened.read(others.back());
    }
  };
  CHECK_THROWS_AS(fill(), inlay::Error);
  const std::vector<TokenId> many(15, 3);
  CHECK_THROWS_AS(opened.read(sequence, many), inlay::Error);
  CHECK(opened.bytes(sequence) == before);
  CHECK(sequence.pages.size() == 2);
  for (auto& one : others) engine.release(one);
  engine.release(sequence);
}

}  // namespace
