// A smaller model that guesses what a larger one will say.
#pragma once

#include "api/state.hpp"

namespace inlay {
inline namespace v0 {

// Follows the tokens of a session with a session of its own, and goes on with its likeliest tokens. Where its
// vocabulary is another one, both speak through text.
class DraftModel {
 public:
  DraftModel(std::shared_ptr<SessionState> own, const ModelState& large);
  std::shared_ptr<DraftModel> fork() const;

  using Stop = std::function<bool()>;
  // Reads what it has not read of these tokens; false: they go beyond what it knows. Throws what a step throws.
  bool follow(std::span<const TokenId> tokens, const Stop& stop);
  // What it would say next, at most `count` tokens of the large model; less where it becomes unsure.
  std::vector<TokenId> guess(std::size_t count, const Stop& stop);

 private:
  void read(const Stop& stop);
  std::vector<TokenId> translated(std::span<const TokenId> said) const;

  std::shared_ptr<SessionState> own_;
  const text::Tokenizer& large_;  // of the model that is guessed for, which outlives this
  bool same_;                     // vocabulary
  std::vector<float> logits_;     // after the last token
};

}  // namespace v0
}  // namespace inlay
