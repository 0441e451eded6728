// Tokens guessed ahead of a generation and read with the one before them; those that come true need no step of their
// own.
#pragma once

#include "api/guesser.hpp"
#include "api/writer.hpp"

namespace inlay {
inline namespace v0 {

// The sampler chooses every token from the model's logits, with or without a guess: a guess only decides what was read
// by then. So the text is the same, whatever was guessed. A guess is a row of tokens and perhaps a side: what may come
// instead behind the first few of them. Both are read in one step, each token once.
class Drafts {
 public:
  Drafts(SessionState& session, Writer& writer);
  ~Drafts() { drop_side(); }
  Drafts(const Drafts&) = delete;
  Drafts& operator=(const Drafts&) = delete;

  // Lets what guesses read the prompt.
  void prepare(const std::function<bool()>& stop);
  // Whether the session's last token is the next draft: it then counts as read, and logits() are those after it.
  bool follow();
  // Reads the last token with drafts behind it. False, and nothing has been read, where that does not pay.
  bool read(const std::function<bool()>& stop);
  std::span<const float> logits() const noexcept;
  void forget() noexcept;  // what is not judged yet was in vain

 private:
  std::size_t most() const noexcept;
  bool step(const std::function<bool()>& stop);
  void guess(const std::function<bool()>& stop);
  bool remember();
  void ask(Guesser& guesser, const std::function<bool()>& stop);
  bool take(runtime::Trust trust);
  void take_side();
  bool turn_aside();
  void note_hidden();
  void settle() noexcept;
  void drop_side() noexcept;

  SessionState& session_;
  Writer& writer_;
  bool on_;
  runtime::Trust trust_ = {};
  Guess guess_;                      // of its tokens the first `right_` came true
  std::pmr::vector<TokenId> whole_;  // with the side instead
  std::size_t right_ = 0, row_ = 0;  // the row of the last token
  int rows_ = 0;                     // read in vain, unless they come true
  runtime::Sequence branch_;         // what the side was read with
  runtime::Engine::Rows logits_,
      hidden_;  // a row for the token before the drafts, one for each, and one for each aside
};

}  // namespace v0
}  // namespace inlay
