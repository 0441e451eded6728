// Proves: a sampler is told and explained step by step, in C++ and in C, and the session is left as it was.
#include <cmath>
#include <string>

#include "inlay/inlay.h"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Sampler;
using inlay::TokenId;

TEST_CASE("explain shows the model's distribution, and what each step leaves of it") {
  const auto model = support::load_nano();
  auto session = model.session();
  const auto logits = session.evaluate(model.tokenize("Once upon a", {.specials = true}));
  const std::vector<TokenId> before(session.tokens().begin(), session.tokens().end());
  const auto digits = inlay::Grammar::regex("[0-9]+");
  const auto steps = session.explain({.grammar = digits, .top_k = 5, .top_p = 1, .min_p = 0, .temperature = 0.5f}, 7);
  CHECK(std::vector<TokenId>(session.tokens().begin(), session.tokens().end()) == before);
  CHECK(session.evaluate(model.tokenize(" time")).size() == logits.size());
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].name == "model");
  CHECK(steps[1].name == "grammar");
  CHECK(steps[2].name == "top_k");
  CHECK(steps[3].name == "temperature");
  double sum = 0;
  for (const float x : logits) sum += std::exp(double(x));
  REQUIRE(steps[0].candidates.size() == 7);
  for (const auto& [id, logprob] : steps[0].candidates)
    CHECK(logprob == Approx(double(logits[std::size_t(id)]) - std::log(sum)).margin(1e-5));
  for (std::size_t i = 1; i < 4; ++i)
    for (const auto& [id, logprob] : steps[i].candidates) CHECK(std::isdigit(model.piece(id)[0]) != 0);
  double before_heat = 0, after = 0;
  for (const auto& [id, logprob] : steps[2].candidates) before_heat += std::exp(double(logprob) * 2);
  REQUIRE(steps[3].candidates.size() == 5);
  for (std::size_t i = 0; i < 5; ++i) {
    const double p = std::exp(double(steps[2].candidates[i].logprob) * 2) / before_heat;
    CHECK(std::exp(double(steps[3].candidates[i].logprob)) == Approx(p).epsilon(1e-4));
    after += p;
  }
  CHECK(after == Approx(1));
  CHECK_THROWS_AS(session.explain({}, 0), inlay::Error);
  auto empty = model.session();
  CHECK_THROWS_AS(empty.explain({}), inlay::Error);
}

TEST_CASE("describe refuses what generate would refuse") {
  CHECK(Sampler::greedy().describe() == "top_k 40 -> top_p 0.95 -> min_p 0.05 -> temperature 0 -> draw");
  CHECK_THROWS_AS(Sampler{.top_p = -1}.describe(), inlay::Error);
}

TEST_CASE("C describes and explains alike") {
  inlay_sampler sampler = INLAY_SAMPLER_INIT;
  const inlay_bias bias[] = {{5, 1.5f}};
  const inlay_text breakers[] = {inlay_string("\n")};
  const inlay_sampler_step order[] = {INLAY_STEP_BIAS, INLAY_STEP_DRY, INLAY_STEP_MIN_P, INLAY_STEP_TEMPERATURE};
  sampler.bias = bias, sampler.bias_count = 1;
  sampler.dry_multiplier = 0.5f, sampler.dry_breakers = breakers, sampler.dry_breakers_count = 1;
  sampler.order = order, sampler.order_count = 4;
  char text[200] = {};
  std::size_t count = 0;
  REQUIRE(inlay_sampler_describe(&sampler, text, sizeof(text), &count, nullptr) == INLAY_OK);
  CHECK(std::string(text, count) ==
        "bias 1 tokens -> dry 0.5 base 1.75 allowed 2 window 64 -> min_p 0.05 -> temperature 0.8 -> draw");
  inlay_load load = INLAY_LOAD_INIT;
  load.threads = 1;
  inlay_model* model = nullptr;
  REQUIRE(inlay_model_load(inlay_string(support::nano().c_str()), &load, &model, nullptr) == INLAY_OK);
  inlay_session* session = nullptr;
  REQUIRE(inlay_session_new(model, nullptr, &session, nullptr) == INLAY_OK);
  std::string names;
  const auto note = [](void* user, inlay_text name, const inlay_alternative* candidates, std::size_t n) {
    *static_cast<std::string*>(user) +=
        std::string(name.data, name.size) + (n > 0 && candidates[0].logprob <= 0 ? "," : "!");
  };
  CHECK(inlay_session_explain(session, &sampler, 3, note, &names, nullptr) == INLAY_ARGUMENT);  // nothing was read
  const std::int32_t tokens[] = {1, 2, 3};
  std::vector<float> logits(4000);
  REQUIRE(inlay_session_evaluate(session, tokens, 3, nullptr, 0, logits.data(), logits.size(), nullptr) == INLAY_OK);
  CHECK(inlay_session_explain(session, &sampler, 3, note, &names, nullptr) == INLAY_OK);
  CHECK(names == "model,bias,dry,min_p,temperature,");
  inlay_session_free(session);
  inlay_model_free(model);
}

}  // namespace
