// Proves: a generation says the same with and without guesses, whatever chooses and ends it.
#include <cmath>
#include <filesystem>
#include <map>

#include "tests/support/catch.hpp"
#include "tests/support/inside.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Finish;
using inlay::Grammar;
using inlay::Limits;
using inlay::Sampler;
using inlay::Speculation;
using inlay::TokenId;

// A text that repeats itself, so that there is something to guess.
const char* const rhyme =
    "The red fox and the old owl live in the house. The red fox and the old owl live in the house. The red fox and the "
    "old owl live in the house. The red fox and the";

struct Said {
  std::vector<TokenId> ids = {};
  std::vector<float> logprobs = {};
  std::string text = {};
  Finish finish = {};
  std::vector<std::byte> session = {};
};

Said say(inlay::Session& session, const char* prompt, const Sampler& sampler, const Limits& limits,
         inlay::Stats* stats = nullptr) {
  Said said;
  auto reply = session.generate(prompt, sampler, limits);
  for (const auto& token : reply) {
    said.ids.push_back(token.id), said.logprobs.push_back(token.logprob);
    said.text += token.text;
  }
  said.finish = reply.finish();
  if (stats) *stats = reply.stats();
  said.session = session.save();
  return said;
}

// How many guesses there were.
int compare(const inlay::Model& model, const char* prompt, const Sampler& sampler, const Limits& limits,
            inlay::SessionOptions options = {}) {
  support::let_guesses_pay(model);
  auto guessing = model.session(options);
  options.speculate = false;
  auto plain = model.session(options);
  inlay::Stats stats, none;
  const auto a = say(guessing, prompt, sampler, limits, &stats), b = say(plain, prompt, sampler, limits, &none);
  CHECK(a.ids == b.ids);
  CHECK(a.logprobs == b.logprobs);
  CHECK(a.text == b.text);
  CHECK(a.finish == b.finish);
  CHECK(a.session == b.session);
  CHECK(none.drafted_tokens == 0);
  CHECK(none.speculation == Speculation::off);
  CHECK(stats.accepted_tokens <= stats.drafted_tokens);
  return stats.drafted_tokens;
}

TEST_CASE("every sampler says the same with guesses and without") {
  const auto model = support::load_nano();
  const TokenId the = model.tokenize(" the").front();
  const std::vector<Sampler> samplers = {
      Sampler::greedy(),
      {.seed = 1},
      {.temperature = 0.3f, .seed = 2},
      {.bias = {{the, -1.5f}}, .repeat_penalty = 1.1f, .frequency_penalty = 0.1f, .seed = 3},
      {.dry_multiplier = 0.5f, .dry_allowed = 9, .seed = 4},
      {.xtc_probability = 0.2f, .temperature = 0.5f, .seed = 5},
      {.mirostat = 1, .mirostat_tau = 2, .seed = 6},
      {.mirostat = 2, .mirostat_tau = 2, .seed = 7},
      {.adaptive_target = 0.8f, .seed = 8},
      {.adjust = [](std::span<float> logits, std::span<const TokenId> so_far) { logits[so_far.size() % 7] += 1; },
       .temperature = 0.2f,
       .seed = 9}};
  int guesses = 0;
  for (const auto& sampler : samplers) {
    INFO(sampler.describe());
    guesses += compare(model, rhyme, sampler, {.tokens = 70, .top_logprobs = 2, .ignore_end = true});
  }
  CHECK(guesses > 0);
}

TEST_CASE("a generation ends where it would without guesses") {
  const auto model = support::load_nano();
  for (const int tokens : {0, 1, 2, 7, 30}) compare(model, rhyme, Sampler::greedy(), {.tokens = tokens});
  for (const char* stop : {"owl live", "e", "house. The r", "in the ho"})
    compare(model, rhyme, Sampler::greedy(), {.tokens = 60, .stop = {stop}});
  compare(support::load_nano({.context = 80}), rhyme, Sampler::greedy(), {.ignore_end = true});
  compare(support::load_nano({.context = 80}), rhyme, Sampler::greedy(), {.tokens = 150, .ignore_end = true},
          {.when_full = inlay::WhenFull::drop});
}

TEST_CASE("pages and cache types make no difference to guesses") {
  using inlay::CacheType;
  for (const int page : {1, 5, 32})
    for (const auto type : {CacheType::f16, CacheType::f32, CacheType::q8_0, CacheType::q4_0})
      compare(support::load_nano({.keys = type, .values = type, .page = page}), rhyme, {.temperature = 0.4f, .seed = 5},
              {.tokens = 40, .ignore_end = true});
}

TEST_CASE("what a grammar forces is guessed, and a grammar's text is the same") {
  const auto model = support::load_nano();
  const Grammar grammars[] = {
      Grammar::json_schema(R"({"type": "object", "required": ["a long name of a property", "another long name"],
        "properties": {"a long name of a property": {"type": "integer"}, "another long name": {"enum": [
        "the first of two long values", "the second of two long values"]}}, "additionalProperties": false})"),
      Grammar::regex("(one two three four five six seven eight nine ten[.] ){5}"), Grammar::json()};
  int guesses = 0;
  for (const auto& grammar : grammars)
    for (const std::uint64_t seed : {1, 2, 3})
      guesses += compare(model, "Write JSON: ", {.grammar = grammar, .seed = seed}, {.tokens = 120});
  CHECK(guesses > 0);
}

TEST_CASE("a session that is left or asked in the middle of guesses is as it would be without") {
  const auto model = support::load_nano();
  const Limits limits{.tokens = 80, .ignore_end = true};
  for (const std::size_t leave : {5, 17, 31, 42, 60}) {
    auto guessing = model.session(), plain = model.session({.speculate = false});
    std::vector<std::vector<TokenId>> ids(2);
    for (auto* session : {&guessing, &plain}) {
      auto reply = session->generate(rhyme, Sampler::greedy(), limits);
      auto& mine = ids[session == &plain];
      for (const auto& token : reply) {
        mine.push_back(token.id);
        if (mine.size() % 10 == 9) CHECK(session->fork().save() == session->save());
        if (mine.size() == leave) break;
      }
      CHECK(session->tokens().back() == mine.back());
    }
    CHECK(ids[0] == ids[1]);
    CHECK(guessing.save() == plain.save());
    for (auto* session : {&guessing, &plain}) {
      session->rewind(session->tokens().size() - 3);
      session->evaluate(model.tokenize(" and then"));
    }
    CHECK(guessing.save() == plain.save());
    CHECK(say(guessing, " the", Sampler::greedy(), limits).ids == say(plain, " the", Sampler::greedy(), limits).ids);
  }
}

TEST_CASE("a cancel in the middle of guesses leaves the tokens that were seen") {
  const auto model = support::load_nano();
  auto session = model.session();
  std::stop_source source;
  std::size_t seen = 0;
  auto reply =
      session.generate(rhyme, Sampler::greedy(), {.tokens = 200, .cancel = source.get_token(), .ignore_end = true});
  const auto before = session.tokens().size();
  for ([[maybe_unused]] const auto& token : reply)
    if (++seen == 45) source.request_stop();
  CHECK(reply.finish() == Finish::cancelled);
  CHECK(session.tokens().size() == before + seen);
  CHECK(seen == 45);
}

TEST_CASE("what an encoder-decoder writes is the same with guesses and without") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"t5", "t5_gated"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      const auto model = inlay::Model::load(file.string(), {.threads = 1});
      std::vector<TokenId> made[2];
      for (const bool speculate : {true, false}) {
        auto session = model.session({.speculate = speculate});
        const std::vector<TokenId> source = {5, 9, 2, 7};
        auto reply = session.generate(source, Sampler::greedy(), {.tokens = 60, .ignore_end = true});
        for (const auto& token : reply) made[speculate].push_back(token.id);
      }
      CHECK(made[0] == made[1]);
    }
}

TEST_CASE("recurrent models guess nothing, and say so") {
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"mamba2_b", "jamba", "falcon_mamba"}) {
      const auto file = arch / (std::string(name) + ".gguf");
      if (!std::filesystem::exists(file)) continue;
      const auto model = inlay::Model::load(file.string(), {.threads = 1});
      auto session = model.session();
      const std::vector<TokenId> prompt = {1, 5, 9, 1, 5, 9, 1, 5, 9};
      auto reply = session.generate(prompt, Sampler::greedy(), {.tokens = 20});
      reply.text();
      CHECK(reply.stats().speculation == Speculation::no_state);
      CHECK(reply.stats().drafted_tokens == 0);
    }
}

TEST_CASE("models that guess change nothing, of the same vocabulary and of another") {
  const auto model = support::load_nano();
  std::vector<inlay::Model> small = {model};
  for (const auto& arch : support::folders("arch"))
    for (const auto* name : {"llama", "mamba2_b", "gptj"})
      if (const auto file = arch / (std::string(name) + ".gguf"); std::filesystem::exists(file))
        small.push_back(inlay::Model::load(file.string(), {.threads = 1}));
  for (const auto& draft : small) {
    INFO(draft.info().architecture);
    const char* const story = "Once upon a time, there was an owl";
    const int guesses = compare(model, story, Sampler::greedy(), {.tokens = 40}, {.draft = &draft});
    if (&draft == &small.front()) CHECK(guesses > 0);
    compare(model, rhyme, {.temperature = 0.5f, .seed = 3}, {.tokens = 40, .ignore_end = true}, {.draft = &draft});
    compare(draft, "a b a b a b a b", {.seed = 3}, {.tokens = 20, .ignore_end = true}, {.draft = &model});
  }
}

TEST_CASE("a fork guesses for itself, and a model that guesses may be let go") {
  const auto model = support::load_nano();
  auto session = [&] {
    const auto draft = support::load_nano({.context = 64});  // too short for the whole text
    return model.session({.draft = &draft});
  }();
  auto plain = model.session({.speculate = false});
  const auto first = say(session, "Once upon a time", Sampler::greedy(), {.tokens = 30, .ignore_end = true});
  CHECK(first.ids == say(plain, "Once upon a time", Sampler::greedy(), {.tokens = 30, .ignore_end = true}).ids);
  auto fork = session.fork();
  const auto expected = say(plain, " and", Sampler::greedy(), {.tokens = 50, .ignore_end = true}).ids;
  CHECK(say(fork, " and", Sampler::greedy(), {.tokens = 50, .ignore_end = true}).ids == expected);
  CHECK(say(session, " and", Sampler::greedy(), {.tokens = 50, .ignore_end = true}).ids == expected);
}

constexpr float heat = 4;  // so that no continuation is much likelier than the others
using Probabilities = std::map<std::vector<TokenId>, double>;

// How likely each continuation by three of these tokens is, where only they can be chosen.
Probabilities continuations(const inlay::Session& start, std::span<const TokenId> tokens) {
  Probabilities shorter = {{{}, 1.0}};
  for (int length = 0; length < 3; ++length) {
    Probabilities longer;
    for (const auto& [said, likely] : shorter) {
      auto session = start.fork();
      std::vector<TokenId> read = {session.tokens().back()};
      session.rewind(session.tokens().size() - 1);
      read.insert(read.end(), said.begin(), said.end());
      const auto logits = session.evaluate(read);
      double mass = 0;
      for (const auto id : tokens) mass += std::exp(double(logits[std::size_t(id)]) / heat);
      for (const auto id : tokens) {
        auto next = said;
        next.push_back(id);
        longer[next] = likely * std::exp(double(logits[std::size_t(id)]) / heat) / mass;
      }
    }
    shorter = std::move(longer);
  }
  return shorter;
}

TEST_CASE("what is guessed is drawn from the model's own distribution") {
  const auto model = support::load_nano();
  std::vector<TokenId> tokens;
  for (const char* word : {" the", " old", " and"}) tokens.push_back(model.tokenize(word).front());
  Sampler sampler{.top_k = 0, .top_p = 1, .min_p = 0, .temperature = heat, .seed = 0};
  for (const auto id : tokens) sampler.bias.push_back({id, 1000});
  auto start = model.session();
  auto beginning = start.generate(rhyme, sampler, {.tokens = 16});  // more, and it learns that guesses are in vain
  for ([[maybe_unused]] const auto& token : beginning) support::let_guesses_pay(model);
  const auto expected = continuations(start, tokens);
  Probabilities seen;
  int guesses = 0;
  constexpr int draws = 400;
  for (std::uint64_t seed = 1; seed <= draws; ++seed) {
    sampler.seed = seed;
    support::let_guesses_pay(model);
    auto session = start.fork();
    std::vector<TokenId> said;
    auto reply = session.generate("", sampler, {.tokens = 3});
    for (const auto& token : reply) said.push_back(token.id);
    guesses += reply.stats().drafted_tokens;
    ++seen[said];
  }
  double chi = 0, rest = draws, rare = draws, freedom = 0;
  for (const auto& [said, likely] : expected) {
    const double often = draws * likely;
    if (often < 5) continue;
    chi += (seen[said] - often) * (seen[said] - often) / often;
    rest -= seen[said], rare -= often, ++freedom;
  }
  if (rare >= 5) chi += (rest - rare) * (rest - rare) / rare, ++freedom;
  CAPTURE(chi, freedom, guesses);
  CHECK(freedom >= 5);
  CHECK(guesses > draws / 4);
  CHECK(chi < freedom + 4 * std::sqrt(2 * freedom));
}

}  // namespace
