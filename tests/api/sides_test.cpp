// Proves: a second guess takes the place of a first one that goes wrong, and no guess, right or wrong, changes a token.
#include <random>

#include "api/generation.hpp"
#include "api/models.hpp"
#include "cpu/cpu.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::GenerationState;
using inlay::Guess;
using inlay::Guesser;
using inlay::SessionState;
using inlay::TokenId;
using Tokens = std::vector<TokenId>;

std::shared_ptr<const inlay::ModelState> load() {
  const auto heap = std::pmr::new_delete_resource();
  auto state = std::make_shared<inlay::ModelState>(inlay::gguf::File::open(support::nano()), heap);
  state->tokenizer = inlay::text::Tokenizer::from(state->file);
  state->engine = inlay::base::make<inlay::runtime::Engine>(
      heap, state->file,
      inlay::base::make<inlay::runtime::Device>(heap, inlay::cpu::backend(),
                                                inlay::runtime::DeviceOptions{.threads = 1}),
      inlay::runtime::EngineOptions{.cache = {.page = 4, .most_bytes = 64 << 20},
                                    .reuse_prefixes = false,
                                    .architecture = &inlay::api::find_architecture("llama", {}),
                                    .vocabulary = state->tokenizer->size()});
  return state;
}

// Knows the text to come, and tells it up to somewhere; its second guess goes on from there, mostly rightly.
class Knowing final : public Guesser {
 public:
  Knowing(std::span<const TokenId> text, unsigned seed) : text_(text.begin(), text.end()), random_(seed) {}
  std::shared_ptr<Guesser> fork() const override { return std::make_shared<Knowing>(*this); }
  bool follow(std::span<const TokenId> tokens, const Stop&) override {
    read_ = tokens.size();
    return read_ + 4 < text_.size();
  }
  void guess(std::size_t count, const Stop&, Guess& guess) override {
    guess.from = random_() % std::min<std::size_t>(count, 3);
    const auto next = text_.begin() + std::ptrdiff_t(read_), turn = next + std::ptrdiff_t(guess.from);
    guess.tokens.assign(next, turn), guess.side.assign(turn, turn + 2);
    guess.tokens.push_back(turn[0] + 1);
    if (random_() % 4 == 0) guess.side.back() = guess.side.front();
    told += int(guess.from);
  }

  int told = 0;  // tokens of first guesses that come true

 private:
  Tokens text_;
  std::size_t read_ = 0;
  std::mt19937 random_;
};

struct Written {
  Tokens ids = {};
  std::vector<float> logprobs = {};
  inlay::Stats stats = {};
};

Written write(const std::shared_ptr<SessionState>& session, const inlay::Sampler& sampler) {
  Written written;
  GenerationState generation(session, sampler, {.tokens = 90, .ignore_end = true});
  inlay::Rollback rollback(*session);
  const Tokens prompt = {3995, 300, 700, 1200};
  REQUIRE(generation.read_prompt(prompt, rollback));
  rollback.keep();
  for (generation.next(); !generation.over; generation.next()) {
    support::let_guesses_pay(*session->model);
    written.ids.push_back(generation.writer.token.id);
    written.logprobs.push_back(generation.writer.token.logprob);
  }
  written.stats = generation.writer.stats;
  return written;
}

std::vector<std::byte> bytes(SessionState& session) {
  std::vector<std::byte> all;
  session.engine().save(session.sequence, 0,
                        [&](std::span<const std::byte> part) { all.insert(all.end(), part.begin(), part.end()); });
  return all;
}

TEST_CASE("second guesses come true where first ones do not, and nothing else changes") {
  const auto model = load();
  const auto free_pages = model->engine->room().pages;
  for (unsigned seed = 1; seed <= 6; ++seed) {
    const inlay::Sampler sampler{.temperature = seed % 2 ? 1.3f : 0.0f, .seed = seed};
    const auto plain = std::make_shared<SessionState>(model, inlay::SessionOptions{.speculate = false});
    const auto expected = write(plain, sampler);
    const auto guessing = std::make_shared<SessionState>(model, inlay::SessionOptions{});
    guessing->drafts.plain_step(1);
    const auto knowing = std::make_shared<Knowing>(plain->sequence.tokens, seed);
    guessing->guesser = knowing;
    const auto got = write(guessing, sampler);
    CHECK(got.ids == expected.ids);
    CHECK(got.logprobs == expected.logprobs);
    CHECK(bytes(*guessing) == bytes(*plain));
    CHECK(got.stats.accepted_tokens > knowing->told + 5);
    CHECK(got.stats.accepted_tokens <= got.stats.drafted_tokens);
    CHECK(guessing->sequence.pages.size() == plain->sequence.pages.size());
  }
  CHECK(model->engine->room().pages == free_pages);
}

}  // namespace
