// A smaller model that guesses what a larger one will say.
#pragma once

#include "api/guesser.hpp"
#include "api/state.hpp"

namespace inlay {
inline namespace v0 {

// Follows the tokens of a session with a session of its own, and goes on with its likeliest tokens. Where its
// vocabulary is another one, both speak through text.
class DraftModel final : public Guesser {
 public:
  DraftModel(std::shared_ptr<SessionState> own, const ModelState& large);
  DraftModel(std::shared_ptr<SessionState> own, const DraftModel& same)
      : own_(std::move(own)), large_(same.large_), same_(same.same_), logits_(own_->memory()) {}
  std::shared_ptr<Guesser> fork() const override;

  bool follow(std::span<const TokenId> tokens, const Stop& stop) override;
  void guess(std::size_t count, const Stop& stop, Guess& guess) override;

 private:
  void read(const Stop& stop);
  std::span<const float> known_logits() const;
  std::vector<TokenId> translated(std::span<const TokenId> said) const;

  std::shared_ptr<SessionState> own_;
  const text::Tokenizer& large_;  // of the model that is guessed for, which outlives this
  bool same_;                     // vocabulary
  runtime::Engine::Rows logits_;  // after the last token
};

}  // namespace v0
}  // namespace inlay
