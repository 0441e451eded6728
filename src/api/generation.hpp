// A running generation: a session, and what writes its next token.
#pragma once

#include "api/drafts.hpp"

namespace inlay {
inline namespace v0 {

struct GenerationState {
  // Takes tokens out of a session that is full, and says what, and whether it could do so again.
  struct Dropped {
    std::size_t tokens = 0, messages = 0;
    bool again = true;
  };
  using MakeRoom = std::function<Dropped(SessionState&)>;

  GenerationState(std::shared_ptr<SessionState> s, const Sampler& recipe, Limits limits);

  // Appends and reads; false where a cancel or the deadline ended it.
  bool read_prompt(std::span<const TokenId> prompt, Rollback& rollback);
  void next();  // makes `writer.token`, or ends
  void goes_on_when_full(MakeRoom make_room);

  Writer writer;
  bool begun = false, over = false;

  ~GenerationState();
  GenerationState(const GenerationState&) = delete;
  GenerationState& operator=(const GenerationState&) = delete;

 private:
  bool current() const noexcept { return session_->asked == asked_; }
  void give_way();
  // Of an encoder-decoder, where a prompt is the source; an empty one: goes on with the source there is.
  bool read_source(std::span<const TokenId> source, Rollback& rollback);
  bool finished(const std::function<void()>& reading);  // false where a cancel or the deadline ended it
  void read_all(std::function<void(std::size_t)> progress);
  bool read_next();  // the token made last, unless it was read ahead; false as above

  std::shared_ptr<SessionState> session_;
  std::uint64_t asked_;
  MakeRoom make_room_;  // none: the generation ends
  runtime::Engine::Rows own_logits_;
  std::span<const float> logits_;  // after the last token
  Drafts drafts_;
  std::function<bool()> stop_;  // what ends a reading
  runtime::Reuse reuse_;        // of the last reading
};

}  // namespace v0
}  // namespace inlay
