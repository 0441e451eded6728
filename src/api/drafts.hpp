// Tokens guessed ahead of a generation and read with the one before them; those that come true need no step of their
// own.
#pragma once

#include "api/writer.hpp"

namespace inlay {
inline namespace v0 {

// The sampler chooses every token from the model's logits, with or without a guess: a guess only decides what was read
// by then. So the text is the same, whatever was guessed.
class Drafts {
 public:
  Drafts(SessionState& session, Writer& writer);

  // Lets a model that guesses read the prompt.
  void prepare(const std::function<bool()>& stop);
  // Whether the session's last token is the next draft: it then counts as read, and logits() are those after it.
  bool follow();
  // Reads the last token with drafts behind it. False, and nothing has been read, where that does not pay.
  bool read(const std::function<bool()>& stop);
  std::span<const float> logits() const noexcept;
  void forget() noexcept;  // what is not judged yet was in vain

 private:
  std::size_t most() const noexcept;
  void guess_and_read(const std::function<bool()>& stop);
  void guess(const std::function<bool()>& stop);
  void ask(DraftModel& model, const std::function<bool()>& stop);
  bool take(std::span<const TokenId> tokens, runtime::Trust trust);
  void settle(bool refuted) noexcept;

  SessionState& session_;
  Writer& writer_;
  bool on_;
  runtime::Trust trust_ = {};
  std::vector<TokenId> drafts_;  // of which `right_` came true
  std::size_t right_ = 0, row_ = 0;
  std::vector<float> logits_;  // a row for the token before the drafts, and one for each
};

}  // namespace v0
}  // namespace inlay
