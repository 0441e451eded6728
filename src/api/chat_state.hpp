// What a chat holds, and how its messages become tokens.
#pragma once

#include "api/generation.hpp"
#include "api/reasoning_budget.hpp"
#include "inlay/chat.hpp"
#include "text/call_grammar.hpp"
#include "text/chat_output.hpp"
#include "text/chat_template.hpp"

namespace inlay {
inline namespace v0 {

struct TemplateState {
  explicit TemplateState(std::string_view source) : compiled(source) {}
  text::ChatTemplate compiled;
};

// What a model is shown of a conversation.
struct Shown {
  Prompt prompt;
  text::TokenIds tokens;
};

struct ChatState {
  ChatState(const Model& model, std::shared_ptr<const ModelState> state, ChatOptions given);

  std::size_t first_turn() const;  // after the messages of the system
  // The first `count` messages, without `left_out` of them after the system's. What was read or written and is still
  // the same text keeps its tokens.
  Shown show(std::size_t count, std::size_t left_out) const;
  // Leaves out more turns, until what is shown of the first `count` messages and `beside` take half of the context, or
  // only the last turn is left. False, and nothing has changed, where none can be spared or they do not fit even so.
  bool leave_out_turns(std::size_t count, std::size_t beside, Shown& shown);
  // Numbers of messages that can be left out: up to where a later turn of the user begins.
  std::vector<std::size_t> cuts(std::size_t count) const;
  // The same while a session is full of `count` messages and the reply to them.
  GenerationState::Dropped make_room(std::size_t count, SessionState& full);
  void note_reading(const Shown& shown);
  // What the reply to a prompt may be; empty: any text.
  Grammar grammar_for(const Prompt& prompt, const Grammar& answer);
  // The sampler without its grammar, and with an end to the reasoning where that is limited.
  Sampler sampler_for(const Prompt& prompt, Sampler sampler);
  bool begins_in_reasoning(const Prompt& prompt) const { return format.opens_reasoning(prompt.text); }

  std::shared_ptr<const ModelState> model;
  ChatOptions options;
  ChatTemplate chat;
  text::OutputFormat format;
  text::CallGrammars calls;
  Session session;
  std::vector<Message> messages = {};
  std::size_t left_out = 0;                   // of the messages after the system's, for want of room
  std::pmr::string read_text{model->memory};  // the prompt that the session read last, and how many tokens it is
  std::size_t read_tokens = 0;

 private:
  text::TokenIds tokens_of(const Prompt& prompt) const;
  Prompt render(const std::vector<Message>& shown) const;
  Prompt render_as(const std::vector<Message>& shown, bool arguments_as_text, bool system_with_user) const;
  std::size_t known_tokens(const Prompt& prompt, std::size_t& bytes) const;

  // The grammar of the latest reply, kept for the next: its masks are found already.
  struct Latest {
    Grammar answer, message;
    text::MessageRules rules;
  };
  std::optional<Latest> latest_ = {};
  std::shared_ptr<api::ReasoningBudget> budget_ = {};  // of the latest reply
};

std::string result_fields(const ToolCall& call);                       // of the message that tells its result
std::string token_text(const text::Tokenizer& tokenizer, TokenId id);  // empty where there is no such token

}  // namespace v0
}  // namespace inlay
