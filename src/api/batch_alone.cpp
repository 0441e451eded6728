// A request that is alone in its batch: it guesses as its session would, and what it has read ahead is taken first.
#include "api/batch.hpp"

namespace inlay {
inline namespace v0 {

// False: nothing is guessed, and nothing was read.
bool BatchState::read_ahead(BatchRequest& request) {
  if (!request.running || !request.prompt_read || request.unread() != 1) return false;
  request.guesses = true;
  try {
    if (!request.drafts.follow() && !request.drafts.read([&] { return request.unwanted(); })) return false;
  } catch (const Error& error) {
    if (error.code() != Errc::cancelled) end(request, Finish::cancelled, error.what());
    return true;  // a cancelled one ends with the next step
  }
  choices_.clear();
  choices_.push_back({&request, request.drafts.logits()});
  write();
  tell(choices_.front());
  return true;
}

}  // namespace v0
}  // namespace inlay
