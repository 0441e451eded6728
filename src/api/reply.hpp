// A reply that is being written: a generation, taken apart and written down.
#pragma once

#include <deque>

#include "api/chat_state.hpp"

namespace inlay {
inline namespace v0 {

struct ReplyState {
  ReplyState(Generation g, std::shared_ptr<ChatState> of, const Prompt& prompt);

  Generation generation;
  text::ChatOutput output;
  std::shared_ptr<ChatState> chat;  // written down in its messages, also when its handle is gone
  std::size_t turn;                 // of the messages

  Generation::iterator at = {};
  std::deque<text::OutputDelta> ahead = {};  // parts to come; the first is `part`
  ReplyPart part = {};
  bool begun = false, ended = false, over = false;

  void next();  // makes `part`, or is over

 private:
  void take(std::vector<text::OutputDelta> deltas);
};

}  // namespace v0
}  // namespace inlay
