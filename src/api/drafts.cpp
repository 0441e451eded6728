// Guessing from the text and its grammar, and reading a guess with the next token.
#include "api/drafts.hpp"

#include <algorithm>
#include <new>
#include <numeric>

#include "api/draft_model.hpp"
#include "runtime/history.hpp"

namespace inlay {
inline namespace v0 {

namespace {

constexpr std::size_t least_match = 2;  // one token that agrees says little

// What comes next where a text repeats itself: behind its end, the repetition goes on.
std::vector<TokenId> repeated(std::span<const TokenId> what, std::size_t count) {
  std::vector<TokenId> tokens;
  while (!what.empty() && tokens.size() < count) tokens.push_back(what[tokens.size() % what.size()]);
  return tokens;
}

}  // namespace

Drafts::Drafts(SessionState& session, Writer& writer) : session_(session), writer_(writer), on_(false) {
  if (!session.options.speculate) return;
  on_ = !session.engine().keeps_states();  // a state cannot go back
  writer.stats.speculation = on_ ? Speculation::on : Speculation::no_state;
}

std::span<const float> Drafts::logits() const noexcept {
  const auto width = std::size_t(session_.engine().vocabulary());
  return std::span(logits_).subspan(row_ * width, width);
}

void Drafts::settle(bool refuted) noexcept {
  if (drafts_.empty()) return;
  session_.drafts.verdict(trust_, int(drafts_.size()), int(right_), refuted);
  drafts_.clear();
}

void Drafts::forget() noexcept {
  settle(false);
  if (on_) session_.engine().drop_drafts(session_.sequence);
}

bool Drafts::follow() {
  auto& sequence = session_.sequence;
  if (drafts_.empty()) return false;
  if (sequence.cached + 1 != sequence.tokens.size() || sequence.tokens.back() != drafts_[right_]) {
    settle(true);
    return false;
  }
  session_.engine().accept(sequence);
  ++writer_.stats.accepted_tokens;
  row_ = ++right_;
  if (right_ == drafts_.size()) settle(false);
  return true;
}

// Drafts that are of use: the token after the last of them is still to be made.
std::size_t Drafts::most() const noexcept {
  const auto used = session_.sequence.tokens.size() + 1, context = session_.context();
  auto most = context - std::min(context, used);
  if (const int tokens = writer_.limits().tokens; tokens >= 0)
    most = std::min(most, std::size_t(std::max(0, tokens - writer_.stats.generated_tokens - 1)));
  return std::min(most, std::size_t(runtime::DraftBudget::most));
}

bool Drafts::take(std::span<const TokenId> tokens, runtime::Trust trust) {
  const auto possible = writer_.possible(tokens.first(std::min(tokens.size(), most())));
  const auto count = std::size_t(session_.drafts.worth(trust, int(possible)));
  drafts_.assign(tokens.begin(), tokens.begin() + std::ptrdiff_t(count));
  trust_ = trust;
  return count > 0;
}

void Drafts::ask(DraftModel& model, const std::function<bool()>& stop) {
  const auto count = std::size_t(session_.drafts.worth(runtime::Trust::model, int(most())));
  if (count == 0) return;
  const auto started = writer_.seconds();
  if (model.follow(session_.sequence.tokens, stop)) drafts_ = model.guess(count, stop);
  drafts_.resize(writer_.possible(drafts_));
  trust_ = runtime::Trust::model;
  if (drafts_.empty()) session_.drafts.in_vain(writer_.seconds() - started);
}

void Drafts::guess(const std::function<bool()>& stop) {
  try {
    if (take(writer_.forced(), runtime::Trust::grammar)) return;
    const auto found = runtime::continuation(std::span<const TokenId>(session_.sequence.tokens));
    if (found.match >= least_match && take(repeated(found.what, most()), runtime::trust_in_match(found.match))) return;
    if (session_.draft_model) ask(*session_.draft_model, stop);
  } catch (const Error& error) {  // a grammar that takes too much, or no memory for a model: nothing is guessed
    drafts_.clear();
    if (error.code() == Errc::cancelled) throw;
  }
}

void Drafts::prepare(const std::function<bool()>& stop) {
  try {
    if (on_ && session_.draft_model) session_.draft_model->follow(session_.sequence.tokens, stop);
  } catch (const Error&) {  // it tries again when it is asked
  }
}

void Drafts::guess_and_read(const std::function<bool()>& stop) {
  guess(stop);
  if (drafts_.empty()) return;
  runtime::Reading reading{&session_.sequence, 1, std::vector<int>(drafts_.size() + 1), drafts_};
  std::iota(reading.wanted.begin(), reading.wanted.end(), 0);
  session_.engine().read({&reading, 1}, logits_, stop);
}

bool Drafts::read(const std::function<bool()>& stop) {
  auto& sequence = session_.sequence;
  drafts_.clear(), right_ = row_ = 0;
  if (!on_) return false;
  session_.engine().wake(sequence);
  if (sequence.cached + 1 != sequence.tokens.size()) return false;
  const auto started = writer_.seconds();
  try {
    guess_and_read(stop);
  } catch (const std::bad_alloc&) {
    drafts_.clear();
  } catch (const Error& error) {
    drafts_.clear();
    if (error.code() != Errc::memory) throw;  // without drafts there may be enough
  }
  if (drafts_.empty()) return false;
  session_.drafts.draft_step(trust_, int(drafts_.size()), writer_.seconds() - started);
  writer_.stats.drafted_tokens += int(drafts_.size());
  return true;
}

}  // namespace v0
}  // namespace inlay
