// Ends a model's reasoning when it has taken its tokens.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/chat_output.hpp"
#include "text/tokenizer.hpp"

namespace inlay::api {

// Looks at the tokens as they are made, and leaves only those that end the reasoning when it has had enough.
class ReasoningBudget {
 public:
  ReasoningBudget(const text::Tokenizer& tokenizer, const text::OutputFormat& format, bool within, std::size_t tokens);

  void operator()(std::span<float> logits, std::span<const text::TokenId> so_far);
  // So many tokens before the reply were taken out of the session.
  void move_back(std::size_t tokens) noexcept { first_ -= first_ == SIZE_MAX ? 0 : tokens; }

 private:
  void restart();
  void read(text::TokenId token);

  const text::Tokenizer* tokenizer_;
  std::string begin_, end_;
  text::TokenIds ending_;  // tokens that end the reasoning
  bool starts_within_;
  std::size_t most_, first_ = SIZE_MAX;  // the reply begins with this token of the session
  std::size_t read_ = 0;                 // tokens of the reply
  bool within_ = false;
  std::size_t spent_ = 0, ended_ = 0;  // tokens of the reasoning, and of its ending
  std::string tail_;                   // the end of the text
};

}  // namespace inlay::api
