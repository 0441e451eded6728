// What a chat holds, and how its messages become tokens.
#pragma once

#include "api/state.hpp"
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

// The messages live apart from the chat, so that a reply may be written down after the chat is gone.
struct ChatState {
  ChatState(const Model& model, std::shared_ptr<const ModelState> state, ChatOptions given);

  Prompt render();
  // The whole conversation in tokens. What was read or written and is still the same text keeps its tokens.
  std::vector<TokenId> tokens_of(const Prompt& prompt) const;
  // What the reply to a prompt may be; empty: any text.
  Grammar grammar_for(const Prompt& prompt, const Grammar& answer);
  // The sampler without its grammar, and with an end to the reasoning where that is limited.
  Sampler sampler_for(const Prompt& prompt, Sampler sampler) const;
  bool begins_in_reasoning(const Prompt& prompt) const { return format.opens_reasoning(prompt.text); }

  std::shared_ptr<const ModelState> model;
  ChatOptions options;
  ChatTemplate chat;
  text::OutputFormat format;
  text::CallGrammars calls;
  Session session;
  std::shared_ptr<std::vector<Message>> messages = std::make_shared<std::vector<Message>>();
  std::string read_text = {};  // the prompt that the session read last, and how many tokens it is
  std::size_t read_tokens = 0;

 private:
  Prompt render_as(bool arguments_as_text, bool system_with_user) const;
  std::size_t known_tokens(const Prompt& prompt, std::size_t& bytes) const;

  // The grammar of the latest reply, kept for the next: its masks are found already.
  struct Latest {
    Grammar answer, message;
    text::MessageRules rules;
  };
  std::optional<Latest> latest_ = {};
};

std::string result_fields(const ToolCall& call);                       // of the message that tells its result
std::string token_text(const text::Tokenizer& tokenizer, TokenId id);  // empty where there is no such token

}  // namespace v0
}  // namespace inlay
