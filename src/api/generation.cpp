// The loop of a generation: read what is unread, write a token.
#include "api/generation.hpp"

#include <algorithm>

#include "api/guarded.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

GenerationState::Dropped drop_tokens(SessionState& session) {
  const auto keep = std::size_t(session.options.keep), rest = session.sequence.tokens.size() - keep;
  const auto count = session.options.drop > 0 ? std::min(std::size_t(session.options.drop), rest - 1) : rest / 2;
  session.engine().drop(session.sequence, keep, count);
  return {.tokens = count};
}

}  // namespace

GenerationState::GenerationState(std::shared_ptr<SessionState> s, const Sampler& recipe, Limits limits)
    : writer(s->model, recipe, std::move(limits)),
      session_(std::move(s)),
      asked_(session_->asked),
      own_logits_(session_->memory()),
      drafts_(*session_, writer),
      stop_([this] { return writer.interrupted().has_value(); }) {
  session_->require_causal();
  if (session_->options.when_full == WhenFull::drop) goes_on_when_full(drop_tokens);
}

void GenerationState::goes_on_when_full(MakeRoom make_room) {
  make_room_ = std::move(make_room);
  writer.goes_on_when_full = true;
}

GenerationState::~GenerationState() {
  if (current()) drafts_.forget();
}

bool GenerationState::finished(const std::function<void()>& reading) {
  try {
    reading();
  } catch (const Error& error) {
    if (error.code() != Errc::cancelled) throw;
    writer.finish = writer.interrupted().value_or(Finish::cancelled);
    return false;
  }
  return true;
}

void GenerationState::read_all(std::function<void(std::size_t)> progress) {
  const auto last = session_->sequence.tokens.size() - 1;
  reuse_ = session_->read({.wants = [&](std::size_t i) { return i == last; },
                           .progress = std::move(progress),
                           .stop = stop_,
                           .rows = &own_logits_});
  logits_ = own_logits_;
}

bool GenerationState::read_prompt(std::span<const TokenId> prompt, Rollback& rollback) {
  if (session_->engine().reads_source()) return read_source(prompt, rollback);
  session_->append(prompt);
  const auto added = prompt.size();
  writer.stats.prompt_tokens = int(added);
  const auto first = session_->sequence.tokens.size() - added;
  const auto progress = [&](std::size_t read) {
    if (const auto& report = writer.limits().progress) report(int(read - std::min(read, first)), int(added));
  };
  if (!finished([&] { read_all(progress); })) return false;
  drafts_.prepare(stop_);
  writer.stats.prompt_seconds = writer.seconds();
  writer.reused(reuse_, first);
  return true;
}

void GenerationState::give_way() {
  if (!writer.goes_on_when_full || session_->sequence.tokens.size() < session_->context()) return;
  drafts_.forget();
  const auto dropped = make_room_(*session_);
  writer.stats.dropped_tokens += int(dropped.tokens);
  writer.stats.dropped_messages += int(dropped.messages);
  writer.goes_on_when_full = dropped.again;
}

bool GenerationState::read_next() {
  if (drafts_.follow()) {
    logits_ = drafts_.logits();
    return true;
  }
  return finished([&] {
    if (drafts_.read(stop_)) {
      logits_ = drafts_.logits();
      return;
    }
    const bool alone = session_->sequence.cached + 1 == session_->sequence.tokens.size();
    const auto started = writer.seconds();
    read_all({});
    if (alone) session_->drafts.plain_step(writer.seconds() - started);
  });
}

void GenerationState::next() {
  if (writer.finish != Finish::running || !current()) {
    if (writer.finish == Finish::running) writer.finish = Finish::cancelled;
    over = true;
    return;
  }
  const auto started = writer.seconds();
  give_way();
  auto& tokens = session_->sequence.tokens;
  const bool first = writer.stats.generated_tokens == 0;
  // Where a cancel comes while the token before is read, that token stays unread.
  if (writer.may_follow(tokens.size()) && (first || read_next())) {
    writer.write(logits_, tokens);
    session_->drafts.token();
  } else {
    over = true;
  }
  if (writer.finish != Finish::running) drafts_.forget();
  writer.stats.generate_seconds += writer.seconds() - started;
}

Generation::Generation(std::shared_ptr<GenerationState> state) noexcept : state_(std::move(state)) {}
Generation::Generation(Generation&&) noexcept = default;
Generation& Generation::operator=(Generation&&) noexcept = default;
Generation::~Generation() = default;

Generation::iterator Generation::begin() & {
  iterator i;
  i.state_ = state_;
  if (!state_->begun) {
    state_->begun = true;
    ++i;
  }
  return i;
}

Generation::iterator& Generation::iterator::operator++() {
  guarded([&] { state_->next(); });
  return *this;
}

const Token& Generation::iterator::operator*() const noexcept { return state_->writer.token; }
bool Generation::iterator::done() const noexcept { return state_->over; }

std::string Generation::text() {
  return guarded([&] {
    std::string all;
    state_->begun = true;
    for (state_->next(); !state_->over; state_->next()) all += state_->writer.token.text;
    return all;
  });
}

std::size_t Generation::text_end() const noexcept { return state_->writer.shown; }
Finish Generation::finish() const noexcept { return state_->writer.finish; }
const Stats& Generation::stats() const& noexcept { return state_->writer.stats; }

}  // namespace v0
}  // namespace inlay
