// Guessing from the text and its grammar, and reading a guess with the next token.
#include "api/drafts.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <numeric>

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

// The first few rows of a reading.
std::span<const int> first_rows(std::size_t count) {
  static constexpr auto rows = [] {
    std::array<int, runtime::most_drafts + 1> all = {};
    std::iota(all.begin(), all.end(), 0);
    return all;
  }();
  return std::span(rows).first(count);
}

}  // namespace

Drafts::Drafts(SessionState& session, Writer& writer)
    : session_(session),
      writer_(writer),
      on_(false),
      branch_(runtime::Sequence().in(session.memory())),
      logits_(session.memory()),
      hidden_(session.memory()) {
  if (!session.options.speculate) return;
  on_ = !session.engine().keeps_states();  // a state cannot go back
  writer.stats.speculation = on_ ? Speculation::on : Speculation::no_state;
}

std::span<const float> Drafts::logits() const noexcept {
  const auto width = std::size_t(session_.engine().vocabulary());
  return std::span(logits_).subspan(row_ * width, width);
}

void Drafts::drop_side() noexcept {
  side_.clear();
  session_.engine().release(branch_);
}

void Drafts::settle() noexcept {
  if (!drafts_.empty()) session_.drafts.settle(trust_, rows_, int(right_));
  drafts_.clear();
  drop_side();
}

void Drafts::forget() noexcept {
  settle();
  if (on_) session_.engine().drop_drafts(session_.sequence);
}

// Whether the last token is the first of the side, which takes the place of the drafts that did not come true.
bool Drafts::turn_aside() {
  if (side_.empty() || right_ != from_) return false;
  const bool right = session_.sequence.tokens.back() == side_.front();
  const auto second = trust_ == runtime::Trust::model ? runtime::Trust::runner_up : runtime::Trust::other;
  session_.drafts.verdict(second, right, !right);
  if (!right) return false;
  session_.engine().take_branch(session_.sequence, branch_);
  row_ = drafts_.size();
  drafts_.resize(from_);
  drafts_.insert(drafts_.end(), side_.begin(), side_.end());
  side_.clear();
  return true;
}

bool Drafts::follow() {
  auto& sequence = session_.sequence;
  if (drafts_.empty()) return false;
  const bool next = sequence.cached + 1 == sequence.tokens.size();
  if (!next || sequence.tokens.back() != drafts_[right_]) {
    session_.drafts.verdict(trust_, 0, true);
    if (!next || !turn_aside()) {
      settle();
      return false;
    }
  } else {
    session_.drafts.verdict(trust_, 1, false);
  }
  session_.engine().accept(sequence);
  ++writer_.stats.accepted_tokens;
  ++row_, ++right_;
  note_hidden();
  if (right_ == drafts_.size()) settle();
  return true;
}

// Drafts that are of use: the token after the last of them is still to be made.
std::size_t Drafts::most() const noexcept {
  const auto used = session_.sequence.tokens.size() + 1, context = session_.context();
  auto most = context - std::min(context, used);
  if (const int tokens = writer_.limits().tokens; tokens >= 0)
    most = std::min(most, std::size_t(std::max(0, tokens - writer_.stats.generated_tokens - 1)));
  return std::min(most, std::size_t(runtime::most_drafts));
}

bool Drafts::take(Guess guess, runtime::Trust trust) {
  const auto possible = writer_.possible(std::span(guess.tokens).first(std::min(guess.tokens.size(), most())));
  const bool decided = trust == runtime::Trust::model;  // before it was asked
  const auto count = decided ? possible : std::size_t(session_.drafts.worth(trust, int(possible)));
  trust_ = trust;
  drafts_ = std::move(guess.tokens);
  drafts_.resize(count);
  if (guess.from < count && session_.engine().can_branch()) take_side(guess.side, guess.from);
  return count > 0;
}

void Drafts::take_side(std::span<const TokenId> tokens, std::size_t from) {
  from_ = from;
  std::vector<TokenId> whole(drafts_.begin(), drafts_.begin() + std::ptrdiff_t(from));
  whole.insert(whole.end(), tokens.begin(), tokens.end());
  whole.resize(std::min(whole.size(), most()));
  const auto possible = writer_.possible(whole) - std::min(writer_.possible(whole), from);
  const int count = session_.drafts.worth_aside(trust_, int(drafts_.size()), int(from), int(possible));
  side_.assign(tokens.begin(), tokens.begin() + count);
}

void Drafts::ask(Guesser& guesser, const std::function<bool()>& stop) {
  const auto count = std::size_t(session_.drafts.worth(runtime::Trust::model, int(most())));
  if (count == 0) return;
  const auto started = writer_.seconds();
  if (guesser.follow(session_.sequence.tokens, stop)) take(guesser.guess(count, stop), runtime::Trust::model);
  if (drafts_.empty()) session_.drafts.in_vain(writer_.seconds() - started);
}

// What followed when the text last read like this, and what else did.
std::pair<std::size_t, Guess> Drafts::remembered() const {
  const auto tokens = std::span<const TokenId>(session_.sequence.tokens);
  const auto found = runtime::continuation(tokens);
  if (found.match < least_match) return {};
  Guess guess{.tokens = repeated(found.what, most())};
  const auto other = runtime::alternative(tokens, found.what, guess.tokens.size(), least_match);
  const auto side = other.what.first(std::min(other.what.size(), most()));
  guess.from = other.from, guess.side.assign(side.begin(), side.end());
  return {found.match, std::move(guess)};
}

void Drafts::guess(const std::function<bool()>& stop) {
  try {
    if (take({.tokens = writer_.forced()}, runtime::Trust::grammar)) return;
    auto [match, guess] = remembered();
    if (match >= least_match && take(std::move(guess), runtime::trust_in_match(match))) return;
    if (session_.guesser) ask(*session_.guesser, stop);
  } catch (const Error& error) {  // a grammar that takes too much, or no memory for a model: nothing is guessed
    drafts_.clear(), side_.clear();
    if (error.code() == Errc::cancelled) throw;
  }
}

void Drafts::prepare(const std::function<bool()>& stop) {
  try {
    if (on_ && session_.guesser) session_.guesser->follow(session_.sequence.tokens, stop);
  } catch (const Error&) {  // it tries again when it is asked
  }
}

// What was made of the last token that counts as read.
void Drafts::note_hidden() {
  if (hidden_.empty()) return;
  const auto& sequence = session_.sequence;
  const auto width = hidden_.size() / std::size_t(rows_ + 1);
  session_.guesser->hidden(sequence.tokens, sequence.cached - 1, std::span(hidden_).subspan(row_ * width, width));
}

// Reads the last token with what is guessed; false: nothing is.
bool Drafts::step(const std::function<bool()>& stop) {
  guess(stop);
  if (drafts_.empty()) return false;
  auto& engine = session_.engine();
  runtime::Reading readings[] = {{&session_.sequence, 1, first_rows(drafts_.size() + 1), drafts_},
                                 {&branch_, 0, first_rows(side_.size()), side_, 0, int(from_) + 1}};
  if (!side_.empty()) branch_ = engine.branch(session_.sequence, from_ + 1);
  const bool hidden = session_.guesser && session_.guesser->wants_hidden();
  hidden_.clear();
  engine.read(std::span(readings).first(side_.empty() ? 1 : 2), logits_, stop, hidden ? &hidden_ : nullptr);
  rows_ = int(drafts_.size() + side_.size());
  note_hidden();
  return true;
}

bool Drafts::read(const std::function<bool()>& stop) {
  auto& sequence = session_.sequence;
  drafts_.clear(), drop_side(), right_ = row_ = 0;
  if (!on_) return false;
  session_.engine().wake(sequence);
  if (sequence.cached + 1 != sequence.tokens.size()) return false;
  const auto started = writer_.seconds();
  bool done = false;
  try {
    done = step(stop);
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {
    drafts_.clear(), drop_side();
    if (error.code() != Errc::memory) throw;  // without drafts there may be enough
  }
  if (!done) {
    drafts_.clear(), drop_side();
    return false;
  }
  session_.drafts.draft_step(trust_, rows_, writer_.seconds() - started);
  writer_.stats.drafted_tokens += rows_;
  return true;
}

}  // namespace v0
}  // namespace inlay
