// Proves: heads in a model's file guess what a float64 transcription of them guesses, and change no text.
#include <fstream>
#include <nlohmann/json.hpp>

#include "api/draft_heads.hpp"
#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"
#include "text/tokenizer.hpp"

namespace {

using inlay::DraftHeads;
using inlay::TokenId;
using inlay::runtime::Engine;
using inlay::runtime::Reading;
using inlay::runtime::Sequence;
using Tokens = std::vector<TokenId>;

std::string path_of(const std::string& name) { return (support::data() / "heads" / (name + ".gguf")).string(); }

nlohmann::json cases_of(const std::string& name) {
  std::ifstream stream(support::data() / "heads" / "heads.json");
  return nlohmann::json::parse(stream).at(name);
}

inlay::base::Owned<inlay::runtime::Device> exact_device() {
  return inlay::base::make<inlay::runtime::Device>(std::pmr::new_delete_resource(), inlay::cpu::backend(),
                                                   inlay::runtime::DeviceOptions{.threads = 1, .isa = "baseline"});
}

struct Opened {
  explicit Opened(const std::string& name)
      : file(inlay::gguf::File::open(path_of(name))),
        options{.cache = {.k_type = INLAY_F32, .v_type = INLAY_F32, .page = 4, .most_bytes = 8 << 20},
                .keeps_hidden = true,
                .architecture = &inlay::api::find_architecture(file.text("general.architecture"), {}),
                .vocabulary = inlay::text::Tokenizer::from(file)->size()},
        model(file, exact_device(), options),
        heads(file, exact_device(), with_model(options)) {}
  inlay::runtime::EngineOptions with_model(inlay::runtime::EngineOptions of_heads) const {
    of_heads.heads_of = &model, of_heads.reuse_prefixes = false;
    return of_heads;
  }

  inlay::gguf::File file;
  inlay::runtime::EngineOptions options;
  Engine model, heads;
};

// What the model makes of tokens, and the likeliest token after them.
struct Made {
  Engine::Rows hidden;
  TokenId next;
};
Made made_of(Engine& model, const Tokens& tokens) {
  Made made;
  Sequence sequence{.tokens = {tokens.begin(), tokens.end()}};
  const int last = int(tokens.size()) - 1;
  const Reading reading{&sequence, int(tokens.size()), {&last, 1}};
  Engine::Rows logits;
  model.read({&reading, 1}, logits, {}, &made.hidden);
  made.next = TokenId(std::max_element(logits.begin(), logits.end()) - logits.begin());
  model.release(sequence);
  return made;
}

Tokens guess(inlay::Guesser& heads, std::size_t count) {
  inlay::Guess guess(std::pmr::new_delete_resource());
  heads.guess(count, {}, guess);
  return {guess.tokens.begin(), guess.tokens.end()};
}

TEST_CASE("heads guess what their transcription guesses, however they follow") {
  for (const std::string name : {"medusa", "nextn"}) {
    INFO(name);
    Opened opened(name);
    for (const auto& one : cases_of(name)) {
      auto tokens = one.at("tokens").get<Tokens>();
      const auto made = made_of(opened.model, tokens);
      REQUIRE(made.next == one.at("next").get<TokenId>());
      const auto expected = one.at("guess").get<Tokens>();
      const auto rows = std::span<const float>(made.hidden);
      const auto width = rows.size() / tokens.size();
      DraftHeads whole(opened.heads), pieces(opened.heads);
      whole.hidden(tokens, 0, rows);
      pieces.hidden(tokens, 0, rows.first(5 * width));
      CHECK_FALSE(pieces.follow(tokens, {}));
      pieces.hidden(tokens, 5, rows.subspan(5 * width, 4 * width));
      (void)pieces.follow(Tokens(tokens.begin(), tokens.begin() + 9), {});
      pieces.hidden(tokens, 7, rows.subspan(7 * width));  // some again
      tokens.push_back(made.next);
      for (auto* heads : {&whole, &pieces}) {
        const auto fork = heads->fork();
        REQUIRE(heads->follow(tokens, {}));
        CHECK(guess(*heads, expected.size()) == expected);
        REQUIRE(fork->follow(tokens, {}));
        CHECK(guess(*fork, 2) == Tokens(expected.begin(), expected.begin() + 2));
      }
    }
  }
}

TEST_CASE("the logits of heads are those of their transcription") {
  for (const std::string name : {"medusa", "nextn"}) {
    INFO(name);
    Opened opened(name);
    const auto one = cases_of(name).front();
    const auto tokens = one.at("tokens").get<Tokens>();
    const auto made = made_of(opened.model, tokens);
    const auto expected = one.at("logits").get<std::vector<float>>();
    Sequence own{.tokens = {tokens.begin() + 1, tokens.end()}};
    own.tokens.push_back(made.next);
    const int last = int(own.tokens.size()) - 1;
    const Reading reading{
        .sequence = &own, .count = int(own.tokens.size()), .wanted = {&last, 1}, .given = made.hidden};
    Engine::Rows logits;
    opened.heads.read({&reading, 1}, logits);
    REQUIRE(logits.size() == expected.size());
    for (std::size_t i = 0; i < logits.size(); ++i) CHECK(std::abs(logits[i] - expected[i]) < 2e-3f);
    opened.heads.release(own);
  }
}

// With guesses that pay throughout.
std::string whole(const inlay::Model& model, inlay::Generation& reply) {
  std::string text;
  for (const auto& token : reply) {
    text += token.text;
    support::let_guesses_pay(model);
  }
  return text;
}

TEST_CASE("heads change no text") {
  for (const std::string name : {"medusa", "nextn"}) {
    const auto model = inlay::Model::load(path_of(name), {.threads = 1, .page = 4, .heads = true});
    const auto tokens = cases_of(name).front().at("tokens").get<Tokens>();
    for (const auto& sampler : {inlay::Sampler::greedy(), inlay::Sampler{.temperature = 1.5f, .seed = 3}}) {
      std::vector<std::string> texts;
      int right = 0;
      for (const bool speculate : {false, true}) {
        auto session = model.session({.speculate = speculate});
        auto first = session.generate(tokens, sampler, {.tokens = 20, .ignore_end = true});
        auto text = whole(model, first);
        auto fork = session.fork();
        auto second = fork.generate(std::span<const TokenId>(), sampler, {.tokens = 80, .ignore_end = true});
        texts.push_back(text + whole(model, second));
        right = first.stats().accepted_tokens + second.stats().accepted_tokens;
      }
      CHECK(texts[0] == texts[1]);
      CHECK(right > 0);
    }
  }
}

TEST_CASE("heads are planned for and asked for, and a file without any says so") {
  CHECK_THROWS_AS(support::load_nano({.heads = true}), inlay::Error);
  for (const std::string name : {"medusa", "nextn"}) {
    CHECK_FALSE(inlay::Model::unused_tensors(path_of(name)).empty());
    CHECK(inlay::Model::unused_tensors(path_of(name), {.heads = true}).empty());
    CHECK(inlay::Model::plan(path_of(name), {.heads = true}).weights > inlay::Model::plan(path_of(name)).weights);
  }
}

}  // namespace
