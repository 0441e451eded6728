// What the requests of a batch make of a step's logits: progress, tokens with their texts, and events.
#include "api/batch.hpp"

namespace inlay {
inline namespace v0 {

void BatchState::take(std::span<const runtime::Schedule::Part> parts) {
  const auto width = std::size_t(model_->engine->vocabulary());
  std::size_t row = 0;
  choices_.clear();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto rows = readings_[i].wanted.size();
    const auto logits = std::span(logits_).subspan(width * row, width * rows);
    row += rows;
    auto* request = search(parts[i].id);
    if (request) try {
        report_progress(*request);
        if (rows > 0 && request->unread() == 0) choices_.push_back({request, logits});
      } catch (const std::exception& error) {  // of the host's functions: the others go on
        end(*request, Finish::cancelled, error.what());
      }
  }
  write();
  for (const auto& choice : choices_) tell(choice);
}

void BatchState::report_progress(BatchRequest& request) const {
  const auto& progress = request.writer.limits().progress;
  if (!progress || request.prompt_read) return;
  const auto prompt = request.writer.stats.prompt_tokens;
  const auto cached = request.sequence().cached, before = std::min(request.before, cached);
  progress(request.sequence().source ? prompt : std::min(int(cached - before), prompt), prompt);
}

// Tokens and their texts are the same in any order, so the threads of the step share them; what the host has a part in
// stays here.
template <class Make>
void BatchState::make_all(const Make& make) {
  const auto one = [&](std::size_t i) {
    auto& choice = choices_[i];
    if (choice.request->wrote && !choice.failure) try {
        make(choice);
      } catch (...) {
        choice.failure = std::current_exception();
      }
  };
  const auto asks_host = [&](std::size_t i) { return choices_[i].request->writer.asks_host(); };
  if (choices_.size() > 1)
    model_->engine->side_by_side(int(choices_.size()), [&](int i) {
      if (!asks_host(std::size_t(i))) one(std::size_t(i));
    });
  for (std::size_t i = 0; i < choices_.size(); ++i)
    if (choices_.size() == 1 || asks_host(i)) one(i);
}

// What the next step does not need is made beside it, where there is a core for that.
void BatchState::write() {
  for (auto& [request, logits, failure] : choices_) {
    auto& writer = request->writer;
    if (!std::exchange(request->prompt_read, true)) {
      writer.stats.prompt_seconds = writer.seconds();
      request->leave_session();
    }
    request->wrote = writer.may_follow(request->sequence().tokens.size());
  }
  const bool apart = may_go_ahead();
  make_all([&](const Choice& choice) {
    auto& request = *choice.request;
    request.writer.choose(choice.logits, request.sequence().tokens);
    request.rest = choice.logits;
    if (!apart || request.writer.ends_by_text()) request.describe();
  });
  if (apart && !begin_ahead()) make_all([](const Choice& choice) { choice.request->describe(); });
}

void BatchState::tell(const Choice& choice) {
  auto& request = *choice.request;
  auto& writer = request.writer;
  try {
    if (choice.failure) std::rethrow_exception(choice.failure);
    if (request.wrote) request.session->drafts.token();
    if (writer.finish != Finish::running) request.stop_guessing();
    writer.stats.generate_seconds = writer.seconds() - writer.stats.prompt_seconds;
    events_.push_back(&request);
  } catch (const std::exception& error) {  // of its sampler or guard: the others go on
    end(request, Finish::cancelled, error.what());
  }
}

}  // namespace v0
}  // namespace inlay
