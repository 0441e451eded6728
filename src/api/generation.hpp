// A running generation: a session, and what writes its next token.
#pragma once

#include "api/writer.hpp"

namespace inlay {
inline namespace v0 {

struct GenerationState {
  GenerationState(std::shared_ptr<SessionState> s, const Sampler& recipe, Limits limits);

  bool read_prompt(std::size_t added);  // false where a cancel or the deadline ended it
  void next();                          // makes `writer.token`, or ends

  Writer writer;
  bool begun = false, over = false;

 private:
  void make_room();
  bool read(std::function<void(std::size_t)> progress);  // the same, of all that is unread

  std::shared_ptr<SessionState> session_;
  std::uint64_t asked_;
  std::vector<float> logits_;
  runtime::Reuse reuse_;  // of the last reading
};

}  // namespace v0
}  // namespace inlay
