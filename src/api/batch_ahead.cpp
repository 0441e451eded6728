// The next step of a batch, begun by another thread while the tokens of the last one are described and shown.
#include <chrono>

#include "api/batch.hpp"

namespace inlay {
inline namespace v0 {

void BatchState::go_ahead(bool always) {
  if (always && !aside_) aside_ = base::make<base::Aside>(model_->memory);
  least_rest_ = always ? 0 : SIZE_MAX;
}

// Whether all have written a token, and what the next step does not wait for is worth another thread. Whoever comes
// while a prompt is read would wait for too long, and who is alone guesses instead.
bool BatchState::may_go_ahead() const {
  const auto written = choices_.size();
  return aside_ && written > 1 && written == readings_.size() &&
         written * std::size_t(model_->engine->vocabulary()) >= least_rest_;
}

// Where nobody comes or goes.
bool BatchState::plan_ahead() {
  {
    std::lock_guard guard(mutex_);
    if (requests_.size() != live_.size()) return false;  // somebody has come
  }
  for (const auto& choice : choices_)
    if (choice.failure) return false;
  std::erase_if(live_, [](const BatchRequest* request) { return request->writer.finish != Finish::running; });
  const auto chosen = plan();
  const auto writes = [&](const auto& part) { return find(part.id).unread() == 1 && find(part.id).source.empty(); };
  if (chosen.parts.size() < 2 || !chosen.preempted.empty() || !chosen.admitted.empty() ||
      !std::all_of(chosen.parts.begin(), chosen.parts.end(), writes))
    return false;
  ahead_parts_.assign(chosen.parts.begin(), chosen.parts.end());
  list(ahead_parts_);
  return true;
}

// False: nothing has changed.
bool BatchState::begin_ahead() noexcept {
  try {
    if (!plan_ahead()) return false;
    aside_->start([this] { read_beside(); });
  } catch (const std::exception&) {  // the step says so in its turn
    return false;
  }
  for (auto* request : served_) request->session->beside = aside_.get();
  ahead_ = Ahead::begun;
  return true;
}

void BatchState::read_beside() noexcept {
  const auto start = std::chrono::steady_clock::now();
  ahead_failed_ = false;
  try {
    model_->engine->read(readings_, ahead_logits_, [this] { return unwanted(); });
  } catch (const std::exception&) {
    ahead_failed_ = true;
  }
  ahead_seconds_ = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// Waits for its end, and meanwhile finds out which tokens grammars allow then.
void BatchState::land() noexcept {
  if (ahead_ != Ahead::begun) return;
  for (auto* writer : with_grammar_) writer->prepare();
  aside_->wait();
  for (auto* request : served_) request->session->beside = nullptr;
  ahead_ = Ahead::landed;
}

// What it gives those that still want it. False: nothing was read ahead, or that failed, and no session has changed.
bool BatchState::take_ahead() {
  if (std::exchange(ahead_, Ahead::none) == Ahead::none || ahead_failed_) return false;
  const auto start = std::chrono::steady_clock::now();
  const auto writing = ahead_parts_.size();
  const auto read = ahead_seconds_;
  logits_.swap(ahead_logits_);
  take(ahead_parts_);  // and perhaps the next one is begun
  if (choices_.empty()) return false;
  pace_.observe(writing, 0, 0, read + std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  places_ = std::min(places_ + 1, most_places());
  return true;
}

}  // namespace v0
}  // namespace inlay
