// The C door to chats, grammars and embeddings.
#include "api/c_api.hpp"

using namespace inlay::api;

namespace {

inlay::Grammar compile(inlay_grammar_kind kind, std::string_view source) {
  switch (kind) {
    case INLAY_GRAMMAR_JSON_SCHEMA: return inlay::Grammar::json_schema(source);
    case INLAY_GRAMMAR_JSON_SCHEMA_LENIENT: return inlay::Grammar::json_schema(source, inlay::Unsupported::ignore);
    case INLAY_GRAMMAR_REGEX: return inlay::Grammar::regex(source);
    case INLAY_GRAMMAR_GBNF: return inlay::Grammar::gbnf(source);
  }
  throw inlay::Error(inlay::Errc::argument, "there is no such kind of grammar");
}

// A handle for what `make` makes.
template <class Make>
inlay_status new_grammar(inlay_grammar** out, inlay_error* error, Make make) noexcept {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    *out = new inlay_grammar{make()};
    return INLAY_OK;
  });
}

// The answer that `speak` starts.
template <class Speak>
inlay_status reply(inlay_chat* chat, inlay_generation** out, inlay_error* error, Speak speak) noexcept {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    auto generation = speak(required(chat, "chat").chat);
    *out = new inlay_generation{chat->memory, std::move(generation), {}, false};
    return INLAY_OK;
  });
}

}  // namespace

inlay_status inlay_embed(const inlay_model* model, inlay_text input, inlay_pooling pooling, int normalize, float* rows,
                         size_t capacity, size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    const inlay::EmbedOptions how{static_cast<inlay::Pooling>(pooling), normalize != 0};
    return deliver(required(model, "model").model.embed(view(input), how).values, rows, capacity, count);
  });
}

inlay_status inlay_embed_tokens(const inlay_model* model, const int32_t* tokens, size_t n, inlay_pooling pooling,
                                int normalize, float* rows, size_t capacity, size_t* count, inlay_error* error) {
  return status_of(error, [&] {
    const inlay::EmbedOptions how{static_cast<inlay::Pooling>(pooling), normalize != 0};
    const auto ids = list(tokens, n, "tokens");
    return deliver(required(model, "model").model.embed(ids, how).values, rows, capacity, count);
  });
}

inlay_status inlay_grammar_new(inlay_grammar_kind kind, inlay_text source, inlay_grammar** out, inlay_error* error) {
  return new_grammar(out, error, [&] { return compile(kind, view(source)); });
}

inlay_status inlay_grammar_json(inlay_grammar** out, inlay_error* error) {
  return new_grammar(out, error, [] { return inlay::Grammar::json(); });
}

inlay_status inlay_grammar_choice(const inlay_text* texts, size_t n, inlay_grammar** out, inlay_error* error) {
  return new_grammar(out, error, [&] {
    std::vector<std::string_view> views;
    for (const auto text : list(texts, n, "texts")) views.push_back(view(text));
    return inlay::Grammar::choice(views);
  });
}

void inlay_grammar_free(inlay_grammar* grammar) { delete grammar; }

inlay_status inlay_chat_new(const inlay_model* model, inlay_text system, inlay_text tools, inlay_text variables,
                            inlay_chat** out, inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    const auto& owner = required(model, "model");
    *out = new inlay_chat{
        owner.memory, inlay::Chat(owner.model, view(system), std::string(view(tools)), std::string(view(variables)))};
    return INLAY_OK;
  });
}

inlay_status inlay_chat_say(inlay_chat* chat, inlay_text input, const inlay_sampler* sampler,
                            const inlay_limits* limits, inlay_generation** out, inlay_error* error) {
  return reply(chat, out, error,
               [&](inlay::Chat& speaker) { return speaker.say(view(input), sampler_of(sampler), limits_of(limits)); });
}

inlay_status inlay_chat_answer(inlay_chat* chat, const inlay_sampler* sampler, const inlay_limits* limits,
                               inlay_generation** out, inlay_error* error) {
  return reply(chat, out, error,
               [&](inlay::Chat& speaker) { return speaker.answer(sampler_of(sampler), limits_of(limits)); });
}

inlay_status inlay_chat_add(inlay_chat* chat, inlay_message message, inlay_error* error) {
  return status_of(error, [&] {
    required(chat, "chat")
        .chat.add(
            {std::string(view(message.role)), std::string(view(message.content)), std::string(view(message.fields))});
    return INLAY_OK;
  });
}

inlay_status inlay_chat_edit(inlay_chat* chat, size_t turn, inlay_text input, inlay_error* error) {
  return status_of(error, [&] {
    required(chat, "chat").chat.edit(turn, view(input));
    return INLAY_OK;
  });
}

size_t inlay_chat_messages(const inlay_chat* chat) { return chat ? chat->chat.messages().size() : 0; }

inlay_status inlay_chat_message(const inlay_chat* chat, size_t turn, inlay_message* out, inlay_error* error) {
  return status_of(error, [&] {
    const auto messages = required(chat, "chat").chat.messages();
    if (turn >= messages.size()) {
      throw inlay::Error(inlay::Errc::argument, "there is no turn " + std::to_string(turn) + ": the chat has " +
                                                    std::to_string(messages.size()));
    }
    required(out, "out") = {text(messages[turn].role), text(messages[turn].content), text(messages[turn].fields)};
    return INLAY_OK;
  });
}

void inlay_chat_free(inlay_chat* chat) { delete chat; }
