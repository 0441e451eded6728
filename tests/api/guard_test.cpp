// Proves: what a guard refuses is never shown and never read, and what it allows is shown as it would be without one.
#include <cstring>
#include <numeric>

#include "inlay/inlay.h"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Batch;
using inlay::Finish;
using inlay::Guard;
using inlay::Limits;
using inlay::Sampler;
using inlay::Verdict;

const char* const prompt = "Once upon a time, there was a small red house at the end of the lane, and in it";

struct Said {
  std::string text = {};
  Finish finish = {};
  std::size_t shown = 0, tokens = 0;
};

Said say(const inlay::Model& model, const Guard& guard, const Limits& others = {}) {
  auto limits = others;
  limits.tokens = 40, limits.guard = guard;
  auto session = model.session();
  auto reply = session.generate(prompt, Sampler::greedy(), limits);
  Said said;
  for (std::string_view text : reply) said.text += text;
  said.finish = reply.finish(), said.shown = reply.text_end(), said.tokens = session.tokens().size();
  return said;
}

TEST_CASE("text that is allowed is shown as it would be without a guard") {
  const auto model = support::load_nano();
  const auto plain = say(model, {});
  for (const int window : {0, 1, 7, 256, -1}) {
    std::string all, whole;
    const auto said = say(model, {.on_text =
                                      [&](std::string_view recent) {
                                        if (window >= 0) CHECK(recent.size() <= std::size_t(window) + 64);
                                        all = recent;
                                        return Verdict::allow;
                                      },
                                  .on_finish =
                                      [&](std::string_view text) {
                                        whole = text;
                                        return Verdict::allow;
                                      },
                                  .window = window});
    CHECK(said.text == plain.text);
    CHECK(said.shown == plain.text.size());
    CHECK(said.finish == plain.finish);
    CHECK(said.tokens == plain.tokens);
    CHECK(whole == plain.text);
    CHECK(plain.text.ends_with(all));
  }
}

TEST_CASE("text that is refused is never shown, not even in part") {
  const auto model = support::load_nano();
  const auto plain = say(model, {});
  REQUIRE(plain.text.size() > 60);
  for (std::size_t at = 5; at + 12 < plain.text.size(); at += 6) {
    const auto secret = plain.text.substr(at, 12);  // of several tokens
    const auto first = plain.text.find(secret);
    for (const auto verdict : {Verdict::redact, Verdict::stop}) {
      const Guard guard{
          .on_text =
              [&](std::string_view recent) { return recent.find(secret) == recent.npos ? Verdict::allow : verdict; },
          .window = 16};
      const auto said = say(model, guard);
      CHECK(said.text.find(secret) == said.text.npos);
      CHECK(said.text.starts_with(plain.text.substr(0, first - std::min<std::size_t>(first, 40))));
      CHECK(said.text.size() + secret.size() <= plain.text.size());
      CHECK(said.shown == said.text.size());
      if (verdict == Verdict::stop) CHECK(said.finish == Finish::guarded);
      if (verdict == Verdict::stop) CHECK(said.text.size() <= first);
      if (verdict == Verdict::redact) CHECK(said.finish == plain.finish);
    }
  }
}

TEST_CASE("a prompt that is refused is not read") {
  const auto model = support::load_nano();
  auto session = model.session();
  session.generate("The owl", Sampler::greedy(), {.tokens = 3}).text();
  const auto before = session.save();
  for (const auto verdict : {Verdict::redact, Verdict::stop}) {
    std::string seen;
    const Guard guard{.on_prompt = [&](std::string_view text) { return seen = text, verdict; }};
    auto reply = session.generate(" and the fox", Sampler::greedy(), {.guard = guard});
    CHECK(reply.text().empty());
    CHECK(reply.finish() == Finish::guarded);
    CHECK(seen == " and the fox");
    CHECK(session.save() == before);
  }
}

TEST_CASE("a verdict at the end is on what was not shown yet") {
  const auto model = support::load_nano();
  const auto finish = [](Verdict verdict, int window) {
    return Guard{.on_finish = [verdict](std::string_view) { return verdict; }, .window = window};
  };
  CHECK(say(model, finish(Verdict::redact, -1)).text.empty());
  CHECK(say(model, finish(Verdict::redact, -1)).finish == Finish::token_limit);
  CHECK(say(model, finish(Verdict::stop, -1)).finish == Finish::guarded);
  const auto plain = say(model, {}).text, most = say(model, finish(Verdict::stop, 10)).text;
  CHECK(plain.starts_with(most));
  CHECK(most.size() + 10 <= plain.size());
}

TEST_CASE("a guard that throws ends the generation, and its text stays unseen") {
  const auto model = support::load_nano();
  auto session = model.session();
  const Guard guard{.on_text = [](std::string_view) -> Verdict { throw std::runtime_error("no"); }, .window = 0};
  auto reply = session.generate(prompt, Sampler::greedy(), {.tokens = 9, .guard = guard});
  CHECK_THROWS(reply.text());
  CHECK(reply.finish() == Finish::cancelled);
  CHECK(reply.text_end() == 0);
}

TEST_CASE("a batch keeps to its requests' guards") {
  const auto model = support::load_nano();
  const auto plain = say(model, {});
  const auto secret = plain.text.substr(20, 9);
  const Guard guard{
      .on_text =
          [&](std::string_view recent) { return recent.find(secret) == recent.npos ? Verdict::allow : Verdict::stop; },
      .window = 20};
  const auto expected = say(model, guard);
  Batch batch(model);
  auto one = model.session(), two = model.session(), three = model.session();
  const Guard refusing{.on_prompt = [](std::string_view) { return Verdict::stop; }};
  const auto watched = batch.submit(one, prompt, Sampler::greedy(), {.tokens = 40, .guard = guard});
  const auto refused = batch.submit(two, prompt, Sampler::greedy(), {.tokens = 40, .guard = refusing});
  const auto free = batch.submit(three, prompt, Sampler::greedy(), {.tokens = 40});
  std::map<Batch::Id, Said> said;
  for (const auto& event : batch) {
    said[event.id].text += event.token.text;
    said[event.id].finish = event.finish;
  }
  CHECK(said[watched].text == expected.text);
  CHECK(said[watched].finish == Finish::guarded);
  CHECK(said[refused].finish == Finish::guarded);
  CHECK(two.tokens().empty());
  CHECK(said[free].text == plain.text);
}

TEST_CASE("an encoder can be the guard") {
  const auto model = support::load_nano();
  for (const auto& arch : support::folders("arch")) {
    if (!std::filesystem::exists(arch / "bert.gguf")) continue;
    const auto encoder = inlay::Model::load((arch / "bert.gguf").string(), {.threads = 1});
    const auto plain = say(model, {}).text;
    for (const std::string& subject : {plain, std::string("something else")}) {
      const auto forbidden = encoder.embed(subject);
      const Guard guard{.on_finish =
                            [&](std::string_view text) {
                              const auto near = encoder.embed(text);
                              const auto likeness =
                                  std::inner_product(near[0].begin(), near[0].end(), forbidden[0].begin(), 0.0f);
                              return likeness > 0.9999f ? Verdict::redact : Verdict::allow;
                            },
                        .window = -1};
      CHECK(say(model, guard).text == (subject == plain ? "" : plain));
    }
  }
}

TEST_CASE("guards in C see what they see in C++") {
  inlay_load load = INLAY_LOAD_INIT;
  load.threads = 2;
  inlay_model* model = nullptr;
  inlay_session* session = nullptr;
  inlay_generation* generation = nullptr;
  REQUIRE(inlay_model_load(inlay_string(support::nano().c_str()), &load, &model, nullptr) == INLAY_OK);
  inlay_session_options options = INLAY_SESSION_OPTIONS_INIT;
  options.draft = model;
  REQUIRE(inlay_session_new(model, &options, &session, nullptr) == INLAY_OK);
  struct Seen {
    std::string prompt, recent;
  } seen;
  inlay_guard guard = INLAY_GUARD_INIT;
  guard.user = &seen;
  guard.on_prompt = [](void* user, inlay_text text) {
    static_cast<Seen*>(user)->prompt.assign(text.data, text.size);
    return INLAY_VERDICT_ALLOW;
  };
  guard.on_text = [](void* user, inlay_text text) {
    static_cast<Seen*>(user)->recent.assign(text.data, text.size);
    return text.size > 12 ? INLAY_VERDICT_STOP : INLAY_VERDICT_ALLOW;
  };
  inlay_limits limits = INLAY_LIMITS_INIT;
  limits.guard = &guard;
  REQUIRE(inlay_generate(session, inlay_string("The owl"), nullptr, &limits, &generation, nullptr) == INLAY_OK);
  inlay_token token;
  while (inlay_next(generation, &token, nullptr) == INLAY_OK) CHECK(token.text.size == 0);
  CHECK(inlay_generation_finish(generation) == INLAY_FINISH_GUARDED);
  CHECK(seen.prompt.ends_with("The owl"));
  CHECK(seen.recent.size() > 12);
  inlay_generation_free(generation), inlay_session_free(session), inlay_model_free(model);
}

}  // namespace
