// The C door does what the C++ door does, and no misuse of it goes further than a status.
#include <string>
#include <vector>

#include "inlay/inlay.h"
#include "inlay/inlay.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"

namespace {

const std::string& nano() {
  static const std::string path = (support::data() / "../../examples/models/inlay-nano-q8_0.gguf").string();
  return path;
}

struct Handles {
  inlay_model* model = nullptr;
  inlay_session* session = nullptr;
  inlay_error error;

  explicit Handles(inlay_load load = INLAY_LOAD_INIT) {
    REQUIRE(inlay_model_load(inlay_string(nano().c_str()), &load, &model, &error) == INLAY_OK);
    REQUIRE(inlay_session_new(model, nullptr, &session, &error) == INLAY_OK);
  }
  ~Handles() {
    inlay_session_free(session);
    inlay_model_free(model);
  }
};

// What a generation says, and how it ends.
std::string speak(inlay_session* session, const char* prompt, const inlay_sampler& sampler, const inlay_limits& limits,
                  inlay_finish* finish = nullptr) {
  inlay_generation* generation = nullptr;
  inlay_error error;
  REQUIRE(inlay_generate(session, inlay_string(prompt), &sampler, &limits, &generation, &error) == INLAY_OK);
  std::string text;
  inlay_token token;
  inlay_status status;
  while ((status = inlay_next(generation, &token, &error)) == INLAY_OK) text.append(token.text.data, token.text.size);
  REQUIRE(status == INLAY_DONE);
  if (finish) *finish = inlay_generation_finish(generation);
  inlay_generation_free(generation);
  return text;
}

inlay_sampler seeded(std::uint64_t seed) {
  inlay_sampler sampler = INLAY_SAMPLER_INIT;
  sampler.seed = seed;
  sampler.seeded = 1;
  return sampler;
}

inlay_limits at_most(std::int32_t tokens) {
  inlay_limits limits = INLAY_LIMITS_INIT;
  limits.tokens = tokens;
  return limits;
}

}  // namespace

TEST_CASE("C and C++ say the same") {
  Handles c;
  const auto text = speak(c.session, "Once upon a time", seeded(7), at_most(24));
  auto session = inlay::Model::load(nano()).session();
  CHECK(text == session.generate("Once upon a time", {.seed = 7}, {.tokens = 24}).text());
  CHECK_FALSE(text.empty());

  std::size_t count = 0;
  std::vector<std::int32_t> tokens(session.tokens().size());
  REQUIRE(inlay_session_tokens(c.session, tokens.data(), tokens.size(), &count, nullptr) == INLAY_OK);
  CHECK(count == tokens.size());
  CHECK(std::equal(tokens.begin(), tokens.end(), session.tokens().begin()));
}

TEST_CASE("A list is cut to the caller's memory, and its length told") {
  Handles c;
  std::int32_t few[2] = {-1, -1};
  std::size_t count = 0;
  REQUIRE(inlay_tokenize(c.model, inlay_string("one two three four"), 0, few, 1, &count, &c.error) == INLAY_OK);
  CHECK(count > 2);
  CHECK(few[0] >= 0);
  CHECK(few[1] == -1);
  std::vector<std::int32_t> all(count);
  REQUIRE(inlay_tokenize(c.model, inlay_string("one two three four"), 0, all.data(), count, &count, &c.error) ==
          INLAY_OK);
  std::string text(64, '\0');
  REQUIRE(inlay_detokenize(c.model, all.data(), all.size(), 0, text.data(), text.size(), &count, &c.error) == INLAY_OK);
  CHECK(text.substr(0, count) == "one two three four");
}

TEST_CASE("Logits, scores and the past are reached from C") {
  Handles c;
  inlay_info info = INLAY_INFO_INIT;
  REQUIRE(inlay_model_info(c.model, &info, &c.error) == INLAY_OK);
  const auto width = static_cast<std::size_t>(info.vocabulary);
  const std::int32_t tokens[] = {info.bos, 11, 12}, wanted[] = {0, 2};
  std::vector<float> logits(2 * width);
  CHECK(inlay_session_evaluate(c.session, tokens, 3, wanted, 2, logits.data(), width, &c.error) == INLAY_ARGUMENT);
  REQUIRE(inlay_session_evaluate(c.session, tokens, 3, wanted, 2, logits.data(), logits.size(), &c.error) == INLAY_OK);
  auto session = inlay::Model::load(nano()).session();
  CHECK(logits == session.evaluate(tokens, wanted));

  double score = 1;
  REQUIRE(inlay_session_score(c.session, inlay_string(" and"), &score, &c.error) == INLAY_OK);
  CHECK(score == session.score(" and"));
  inlay_session* fork = nullptr;
  REQUIRE(inlay_session_fork(c.session, &fork, &c.error) == INLAY_OK);
  REQUIRE(inlay_session_rewind(c.session, 1, &c.error) == INLAY_OK);
  CHECK(inlay_session_rewind(c.session, 2, &c.error) == INLAY_ARGUMENT);
  std::size_t room = 0;
  REQUIRE(inlay_session_room(fork, &room, &c.error) == INLAY_OK);
  CHECK(room == static_cast<std::size_t>(info.context) - 3);
  inlay_session_free(fork);
}

TEST_CASE("A generation ends at a stop text, at its limit, and when it is told to") {
  Handles c;
  inlay_finish finish = INLAY_FINISH_RUNNING;
  const auto whole = speak(c.session, "Once upon a time", seeded(3), at_most(24), &finish);
  CHECK(finish == INLAY_FINISH_TOKEN_LIMIT);

  REQUIRE(inlay_session_rewind(c.session, 0, &c.error) == INLAY_OK);
  const auto word = whole.substr(whole.size() / 2, 3);
  const inlay_text stop = {word.data(), word.size()};
  auto limits = at_most(24);
  limits.stop = &stop;
  limits.stop_count = 1;
  CHECK(speak(c.session, "Once upon a time", seeded(3), limits, &finish) == whole.substr(0, whole.find(word)));
  CHECK(finish == INLAY_FINISH_STOP_TEXT);

  inlay_stop* cancel = nullptr;
  REQUIRE(inlay_stop_new(&cancel, &c.error) == INLAY_OK);
  inlay_stop_request(cancel);
  limits = at_most(24);
  limits.cancel = cancel;
  CHECK(speak(c.session, "Again", seeded(3), limits, &finish).empty());
  CHECK(finish == INLAY_FINISH_CANCELLED);
  inlay_stop_free(cancel);
}

TEST_CASE("The host's functions are called: log, progress, parallel, memory") {
  struct Host {
    std::size_t allocated = 0, released = 0, regions = 0;
    float done = 0;
  } host;
  inlay_load load = INLAY_LOAD_INIT;
  load.user = &host;
  load.threads = 2;
  load.progress = [](void* user, float done) {
    static_cast<Host*>(user)->done = done;
    return 1;
  };
  load.parallel = [](void* user, std::int32_t n, void (*body)(void*, std::int32_t), void* context) {
    ++static_cast<Host*>(user)->regions;
    for (std::int32_t i = 0; i < n; ++i) body(context, i);
  };
  load.alloc = [](void* user, std::size_t bytes, std::size_t alignment) {
    static_cast<Host*>(user)->allocated += bytes;
    return ::operator new(bytes, std::align_val_t(alignment), std::nothrow);
  };
  load.release = [](void* user, void* memory, std::size_t bytes, std::size_t alignment) {
    static_cast<Host*>(user)->released += bytes;
    ::operator delete(memory, std::align_val_t(alignment));
  };
  {
    Handles c(load);
    inlay_model_free(std::exchange(c.model, nullptr));  // the session keeps what it needs
    CHECK(speak(c.session, "Hello", seeded(1), at_most(4)).size() > 0);
  }
  CHECK(host.done == 1.0f);
  CHECK(host.regions > 0);
  CHECK(host.allocated > 4'000'000);
  CHECK(host.released == host.allocated);
}

TEST_CASE("Loading can be given up, and a wrong file is named") {
  inlay_load load = INLAY_LOAD_INIT;
  load.progress = [](void*, float) { return 0; };
  inlay_model* model = nullptr;
  inlay_error error;
  CHECK(inlay_model_load(inlay_string(nano().c_str()), &load, &model, &error) == INLAY_CANCELLED);
  CHECK(model == nullptr);
  CHECK(inlay_model_load(inlay_string("no-such-file.gguf"), nullptr, &model, &error) == INLAY_IO);
  CHECK(std::string(error.message).find("no-such-file.gguf") != std::string::npos);
  CHECK(inlay_model_load_memory("GGUX", 4, nullptr, &model, &error) == INLAY_FORMAT);
  CHECK(error.fault != INLAY_FAULT_NONE);
}

TEST_CASE("NULL is an error that names the argument, or does nothing") {
  inlay_error error;
  inlay_model* model = nullptr;
  CHECK(inlay_model_load(inlay_string(nano().c_str()), nullptr, nullptr, &error) == INLAY_ARGUMENT);
  CHECK(std::string(error.message) == "out is NULL");
  CHECK(inlay_session_new(model, nullptr, nullptr, nullptr) == INLAY_ARGUMENT);
  CHECK(inlay_next(nullptr, nullptr, &error) == INLAY_ARGUMENT);
  CHECK(inlay_generation_finish(nullptr) == INLAY_FINISH_CANCELLED);
  CHECK(inlay_generation_stats(nullptr).generated_tokens == 0);
  inlay_model_free(nullptr);
  inlay_session_free(nullptr);
  inlay_generation_free(nullptr);
  inlay_stop_request(nullptr);
  inlay_stop_free(nullptr);
}

TEST_CASE("A caller of an older version, whose structs are shorter, gets the usual values") {
  Handles c;
  inlay_sampler shorter = INLAY_SAMPLER_INIT;
  shorter.size = offsetof(inlay_sampler, temperature);
  shorter.temperature = -1;  // beyond what that caller knows
  CHECK(speak(c.session, "Hello", shorter, at_most(2)).size() > 0);
  inlay_info info = INLAY_INFO_INIT;
  info.size = offsetof(inlay_info, parameters);
  info.parameters = 99;
  REQUIRE(inlay_model_info(c.model, &info, nullptr) == INLAY_OK);
  CHECK(info.architecture.size == 5);
  CHECK(info.parameters == 99);
}

TEST_CASE("A grammar and a chat are reached from C") {
  Handles c;
  inlay_grammar* grammar = nullptr;
  CHECK(inlay_grammar_new(INLAY_GRAMMAR_REGEX, inlay_string("(a"), &grammar, &c.error) == INLAY_ARGUMENT);
  REQUIRE(inlay_grammar_new(INLAY_GRAMMAR_REGEX, inlay_string("[0-9]{3}"), &grammar, &c.error) == INLAY_OK);
  auto sampler = seeded(1);
  sampler.grammar = grammar;
  inlay_finish finish = INLAY_FINISH_RUNNING;
  const auto number = speak(c.session, "What is 58 + 67?", sampler, at_most(8), &finish);
  inlay_match match = INLAY_MATCH_NONE;
  CHECK(inlay_grammar_match(grammar, inlay_string("12"), &match, &c.error) == INLAY_OK);
  CHECK(match == INLAY_MATCH_PREFIX);
  inlay_grammar_free(grammar);
  CHECK(number.size() == 3);
  CHECK(number.find_first_not_of("0123456789") == std::string::npos);

  inlay_chat* chat = nullptr;
  REQUIRE(inlay_chat_new(c.model, nullptr, &chat, &c.error) == INLAY_OK);
  sampler = INLAY_SAMPLER_INIT;
  sampler.temperature = 0;
  inlay_reply* reply = nullptr;
  REQUIRE(inlay_chat_say(chat, inlay_string("What is 58 + 67?"), &sampler, nullptr, &reply, &c.error) == INLAY_OK);
  std::string answer;
  inlay_reply_part part;
  while (inlay_reply_next(reply, &part, &c.error) == INLAY_OK) {
    if (part.kind == INLAY_PART_ANSWER) answer.append(part.text.data, part.text.size);
  }
  CHECK(answer == "125");
  CHECK(inlay_reply_finish(reply) == INLAY_FINISH_END_OF_TEXT);
  CHECK(inlay_reply_stats(reply).generated_tokens > 0);
  inlay_reply_free(reply);
  REQUIRE(inlay_chat_messages(chat) == 2);
  inlay_message message;
  REQUIRE(inlay_chat_message(chat, 1, &message, &c.error) == INLAY_OK);
  CHECK(std::string(message.content.data, message.content.size) == "125");
  CHECK(inlay_chat_message(chat, 2, &message, &c.error) == INLAY_ARGUMENT);
  inlay_chat_free(chat);
}

TEST_CASE("A tool is called and answered from C") {
  Handles c;
  inlay_chat_options options = INLAY_CHAT_OPTIONS_INIT;
  options.tools = inlay_string(R"([{"type":"function","function":{"name":"get_weather","description":
    "Get the weather of a city","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}])");
  inlay_chat* chat = nullptr;
  REQUIRE(inlay_chat_new(c.model, &options, &chat, &c.error) == INLAY_OK);
  inlay_sampler greedy = INLAY_SAMPLER_INIT;
  greedy.temperature = 0;
  inlay_reply* reply = nullptr;
  inlay_reply_part part;
  REQUIRE(inlay_chat_say(chat, inlay_string("Weather in Zurich, please."), &greedy, nullptr, &reply, &c.error) ==
          INLAY_OK);
  while (inlay_reply_next(reply, &part, &c.error) == INLAY_OK) {
  }
  inlay_reply_free(reply);
  REQUIRE(inlay_chat_tool_calls(chat, 1) == 1);
  inlay_tool_call call;
  REQUIRE(inlay_chat_tool_call(chat, 1, 0, &call, &c.error) == INLAY_OK);
  CHECK(std::string(call.name.data, call.name.size) == "get_weather");
  CHECK(std::string(call.arguments.data, call.arguments.size) == R"({"city": "Zurich"})");
  CHECK(inlay_chat_tool_call(chat, 1, 1, &call, &c.error) == INLAY_ARGUMENT);
  REQUIRE(inlay_chat_add_result(chat, call, inlay_string("sunny"), &c.error) == INLAY_OK);
  CHECK(inlay_chat_messages(chat) == 3);
  inlay_chat_free(chat);
}

TEST_CASE("A batch says in C what its sessions say alone") {
  Handles c;
  inlay_session* second = nullptr;
  REQUIRE(inlay_session_new(c.model, nullptr, &second, &c.error) == INLAY_OK);
  inlay_batch_options options = INLAY_BATCH_OPTIONS_INIT;
  options.tokens_per_step = 0;
  inlay_batcher* batch = nullptr;
  CHECK(inlay_batch_new(c.model, &options, &batch, &c.error) == INLAY_ARGUMENT);
  REQUIRE(inlay_batch_new(c.model, nullptr, &batch, &c.error) == INLAY_OK);
  const auto sampler = seeded(3);
  const auto limits = at_most(9);
  std::uint64_t ids[2] = {};
  const auto submit = [&](inlay_session* session, const char* prompt, std::uint64_t* id) {
    return inlay_batch_submit(batch, session, inlay_string(prompt), &sampler, &limits, {0, 0}, id, &c.error);
  };
  REQUIRE(submit(c.session, "Once upon a time", &ids[0]) == INLAY_OK);
  REQUIRE(submit(second, "The house", &ids[1]) == INLAY_OK);
  CHECK(submit(second, "again", nullptr) == INLAY_ARGUMENT);
  std::string texts[2];
  inlay_event event;
  inlay_status status;
  while ((status = inlay_batch_next(batch, &event, &c.error)) == INLAY_OK) {
    CHECK(event.error.size == 0);
    texts[event.id == ids[1]].append(event.token.text.data, event.token.text.size);
    CHECK((event.finish == INLAY_FINISH_RUNNING || event.stats.generated_tokens == 9));
  }
  CHECK(status == INLAY_DONE);
  CHECK(inlay_batch_cancel(batch, ids[0], &c.error) == INLAY_OK);
  CHECK(inlay_batch_close(batch, &c.error) == INLAY_OK);
  CHECK(submit(second, "late", nullptr) == INLAY_ARGUMENT);
  inlay_batch_free(batch);
  Handles other;
  CHECK(texts[0] == speak(other.session, "Once upon a time", sampler, limits));
  REQUIRE(inlay_session_rewind(other.session, 0, nullptr) == INLAY_OK);
  CHECK(texts[1] == speak(other.session, "The house", sampler, limits));
  inlay_session_free(second);
}
