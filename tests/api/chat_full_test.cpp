// Proves: a chat whose context is full goes on without its oldest turns as if it had never had them, and says so.
#include "inlay/inlay.h"
#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Chat;
using inlay::Message;
using inlay::Sampler;
using inlay::TokenId;
using inlay::WhenFull;

std::vector<TokenId> tokens_of(Chat& chat) { return {chat.session().tokens().begin(), chat.session().tokens().end()}; }

std::string question(int i) { return "Number " + std::to_string(i) + ": what is " + std::to_string(i) + " + 4?"; }

const char* const system_words = "You are a careful clerk.";

TEST_CASE("turns are left out where a prompt does not fit, the oldest first, and what stays is read as if alone") {
  const auto model = support::load_nano({.context = 200});
  Chat chat(model, {.system = system_words, .when_full = WhenFull::drop});
  int dropped = 0, times = 0;
  for (int i = 0; i < 16; ++i) {
    auto reply = chat.say(question(i), Sampler::greedy(), {.tokens = 8});
    const auto text = reply.text();
    dropped += reply.stats().dropped_messages;
    CHECK((reply.stats().dropped_tokens > 0) == (reply.stats().dropped_messages > 0));
    if (reply.stats().dropped_messages == 0) continue;
    ++times;
    CHECK(reply.stats().prompt_tokens <= 100);
    Chat fresh(model, {.system = system_words});
    const auto kept = chat.messages().subspan(std::size_t(1 + dropped));
    REQUIRE(kept.front().role == "user");
    for (const auto& message : kept.first(kept.size() - 1)) fresh.add(message);
    auto same = fresh.answer(Sampler::greedy(), {.tokens = 8});
    CHECK(same.text() == text);
    CHECK(tokens_of(fresh) == tokens_of(chat));
    CHECK(same.stats().prompt_tokens == reply.stats().prompt_tokens);
  }
  CHECK(times >= 2);
  CHECK(chat.messages().size() == 1 + 2 * 16);
  CHECK(chat.messages()[1].content == question(0));
  chat.edit(1, question(7));  // a turn that was left out
  const auto again = chat.answer(Sampler::greedy(), {.tokens = 8});
  CHECK(again.stats().dropped_messages == 0);
}

TEST_CASE("a reply that fills the context goes on without the oldest turns") {
  const auto model = support::load_nano({.context = 128, .page = 8});
  const inlay::Limits endless{.tokens = 90, .ignore_end = true};
  const auto talk = [&](WhenFull when_full) {
    Chat chat(model, {.system = system_words, .when_full = when_full});
    for (int i = 0; i < 2; ++i) (void)chat.say(question(i), Sampler::greedy(), {.tokens = 5}).text();
    return chat;
  };
  auto chat = talk(WhenFull::drop), stopped = talk(WhenFull::stop);
  auto cut = stopped.say("Tell me a story.", Sampler::greedy(), endless);
  const auto beginning = cut.text();
  REQUIRE(cut.finish() == inlay::Finish::context_full);
  const auto full = tokens_of(stopped);
  const std::vector<TokenId> written(full.end() - cut.stats().generated_tokens, full.end());

  auto reply = chat.say("Tell me a story.", Sampler::greedy(), endless);
  const auto text = reply.text();
  CHECK(reply.finish() == inlay::Finish::token_limit);
  CHECK(text.starts_with(beginning.substr(0, beginning.size() - 4)));
  CHECK(reply.stats().dropped_messages == 4);

  Chat last(model, {.system = system_words});
  (void)last.say("Tell me a story.", Sampler::greedy(), {.tokens = 0}).text();
  auto expected = tokens_of(last);
  CHECK(reply.stats().dropped_tokens == cut.stats().prompt_tokens - int(expected.size()));
  expected.insert(expected.end(), written.begin(), written.end());
  auto session = model.session();
  auto rest = session.generate(expected, Sampler::greedy(), {.tokens = 90 - int(written.size()), .ignore_end = true});
  (void)rest.text();
  CHECK(std::vector<TokenId>(session.tokens().begin(), session.tokens().end()) == tokens_of(chat));

  auto next = chat.say("And then?", Sampler::greedy(), {.tokens = 3});  // the reply's tokens are known still
  CHECK(next.stats().reused_tokens + 30 > next.stats().prompt_tokens);
}

TEST_CASE("without turns to leave out a chat ends as ever, and a question that never fits is refused") {
  const auto model = support::load_nano({.context = 64});
  Chat chat(model, {.when_full = WhenFull::drop});
  auto reply = chat.say("Tell me a story.", Sampler::greedy(), {.ignore_end = true});
  (void)reply.text();
  CHECK(reply.finish() == inlay::Finish::context_full);
  CHECK(reply.stats().dropped_messages == 0);
  CHECK_THROWS_AS(chat.say(std::string(400, 'z')), inlay::Error);
  CHECK(chat.messages().size() == 2);
  const auto second = chat.say("Hi!", Sampler::greedy(), {.tokens = 2});
  CHECK(second.stats().dropped_messages == 2);
  Chat stops(model);
  (void)stops.say("Tell me a story.", Sampler::greedy(), {.ignore_end = true}).text();
  CHECK_THROWS_AS(stops.say("Hi!"), inlay::Error);
}

TEST_CASE("a reply outlives its chat, also where the chat would make room for it") {
  const auto model = support::load_nano({.context = 96});
  std::optional<Chat> chat(std::in_place, model, inlay::ChatOptions{.when_full = WhenFull::drop});
  (void)chat->say(question(1), Sampler::greedy(), {.tokens = 5}).text();
  auto reply = chat->say("Tell me a story.", Sampler::greedy(), {.tokens = 80, .ignore_end = true});
  chat.reset();
  CHECK_FALSE(reply.text().empty());
  CHECK(reply.stats().dropped_messages == 2);
}

TEST_CASE("chats in C leave out turns, too") {
  inlay_load load = INLAY_LOAD_INIT;
  load.context = 64, load.threads = 1;
  const auto path = support::nano();
  inlay_model* model = nullptr;
  REQUIRE(inlay_model_load({path.data(), path.size()}, &load, &model, nullptr) == INLAY_OK);
  inlay_chat_options options = INLAY_CHAT_OPTIONS_INIT;
  options.when_full = INLAY_WHEN_FULL_DROP;
  inlay_chat* chat = nullptr;
  REQUIRE(inlay_chat_new(model, &options, &chat, nullptr) == INLAY_OK);
  inlay_limits limits = INLAY_LIMITS_INIT;
  limits.tokens = 4;
  int dropped = 0;
  for (int i = 0; i < 5; ++i) {
    const auto text = question(i);
    inlay_reply* reply = nullptr;
    REQUIRE(inlay_chat_say(chat, {text.data(), text.size()}, nullptr, &limits, &reply, nullptr) == INLAY_OK);
    inlay_reply_part part;
    while (inlay_reply_next(reply, &part, nullptr) == INLAY_OK) {
    }
    dropped += inlay_reply_stats(reply).dropped_messages;
    inlay_reply_free(reply);
  }
  CHECK(dropped >= 2);
  CHECK(inlay_chat_messages(chat) == 10);
  inlay_chat_free(chat), inlay_model_free(model);
}

}  // namespace
