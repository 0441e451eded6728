// The C door to chats.
#include "api/c_api.hpp"

using namespace inlay::api;

struct inlay_reply {
  std::shared_ptr<HostMemory> memory;
  inlay::Reply reply;
  inlay::Reply::iterator at;
  bool started;
};

namespace {

inlay::ChatOptions options_of(const inlay_chat_options* given) {
  const auto c = versioned(given, inlay_chat_options INLAY_CHAT_OPTIONS_INIT);
  inlay::ChatOptions options{.system = std::string(view(c.system)),
                             .tools = std::string(view(c.tools)),
                             .variables = std::string(view(c.variables)),
                             .reasoning = static_cast<inlay::Reasoning>(c.reasoning),
                             .reasoning_tokens = c.reasoning_tokens};
  if (c.tool_choice.size > 0) options.tool_choice = view(c.tool_choice);
  if (c.now >= 0) options.now = c.now;
  options.when_full = static_cast<inlay::WhenFull>(c.when_full);
  options.draft = c.draft ? &c.draft->model : nullptr;
  return options;
}

// The reply that `speak` starts.
template <class Speak>
inlay_status reply(inlay_chat* chat, inlay_reply** out, inlay_error* error, Speak speak) noexcept {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    auto reply = speak(required(chat, "chat").chat);
    *out = new inlay_reply{chat->memory, std::move(reply), {}, false};
    return INLAY_OK;
  });
}

const inlay::Message& message_of(const inlay_chat* chat, std::size_t turn) {
  const auto messages = required(chat, "chat").chat.messages();
  if (turn < messages.size()) return messages[turn];
  throw inlay::Error(inlay::Errc::argument,
                     "there is no turn " + std::to_string(turn) + ": the chat has " + std::to_string(messages.size()));
}

}  // namespace

inlay_status inlay_chat_new(const inlay_model* model, const inlay_chat_options* options, inlay_chat** out,
                            inlay_error* error) {
  return status_of(error, [&] {
    required(out, "out") = nullptr;
    const auto& owner = required(model, "model");
    *out = new inlay_chat{owner.memory, inlay::Chat(owner.model, options_of(options))};
    return INLAY_OK;
  });
}

inlay_status inlay_chat_say(inlay_chat* chat, inlay_text input, const inlay_sampler* sampler,
                            const inlay_limits* limits, inlay_reply** out, inlay_error* error) {
  return reply(chat, out, error,
               [&](inlay::Chat& speaker) { return speaker.say(view(input), sampler_of(sampler), limits_of(limits)); });
}

inlay_status inlay_chat_answer(inlay_chat* chat, const inlay_sampler* sampler, const inlay_limits* limits,
                               inlay_reply** out, inlay_error* error) {
  return reply(chat, out, error,
               [&](inlay::Chat& speaker) { return speaker.answer(sampler_of(sampler), limits_of(limits)); });
}

inlay_status inlay_chat_add(inlay_chat* chat, inlay_message message, inlay_error* error) {
  return status_of(error, [&] {
    required(chat, "chat")
        .chat.add({std::string(view(message.role)), std::string(view(message.content)),
                   std::string(view(message.fields)), std::string(view(message.reasoning))});
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
    const auto& message = message_of(chat, turn);
    required(out, "out") = {text(message.role), text(message.content), text(message.fields), text(message.reasoning)};
    return INLAY_OK;
  });
}

size_t inlay_chat_tool_calls(const inlay_chat* chat, size_t turn) {
  return turn < inlay_chat_messages(chat) ? chat->chat.messages()[turn].tool_calls.size() : 0;
}

inlay_status inlay_chat_tool_call(const inlay_chat* chat, size_t turn, size_t call, inlay_tool_call* out,
                                  inlay_error* error) {
  return status_of(error, [&] {
    const auto& calls = message_of(chat, turn).tool_calls;
    if (call >= calls.size())
      throw inlay::Error(inlay::Errc::argument,
                         "there is no call " + std::to_string(call) + ": the turn has " + std::to_string(calls.size()));
    required(out, "out") = {text(calls[call].name), text(calls[call].arguments), text(calls[call].id)};
    return INLAY_OK;
  });
}

inlay_status inlay_chat_add_result(inlay_chat* chat, inlay_tool_call call, inlay_text result, inlay_error* error) {
  return status_of(error, [&] {
    required(chat, "chat")
        .chat.add_result({std::string(view(call.name)), std::string(view(call.arguments)), std::string(view(call.id))},
                         view(result));
    return INLAY_OK;
  });
}

inlay_status inlay_reply_next(inlay_reply* reply, inlay_reply_part* out, inlay_error* error) {
  return status_of(error, [&] {
    auto& [memory, parts, at, started] = required(reply, "reply");
    required(out, "out") = {};
    if (started) {
      if (at != std::default_sentinel) ++at;
    } else {
      at = parts.begin();
      started = true;
    }
    if (at == std::default_sentinel) return INLAY_DONE;
    *out = {static_cast<inlay_part_kind>(at->kind), text(at->text)};
    return INLAY_OK;
  });
}

inlay_finish inlay_reply_finish(const inlay_reply* reply) {
  return reply ? static_cast<inlay_finish>(reply->reply.finish()) : INLAY_FINISH_CANCELLED;
}

inlay_stats inlay_reply_stats(const inlay_reply* reply) {
  return reply ? stats_of(reply->reply.stats()) : inlay_stats{};
}

void inlay_reply_free(inlay_reply* reply) { delete reply; }

void inlay_chat_free(inlay_chat* chat) { delete chat; }
