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
      guess_(session.memory()),
      whole_(session.memory()),
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
  guess_.side.clear();
  session_.engine().release(branch_);
}

void Drafts::settle() noexcept {
  if (!guess_.tokens.empty()) session_.drafts.settle(trust_, rows_, int(right_));
  guess_.clear();
  drop_side();
}

void Drafts::forget() noexcept {
  settle();
  if (on_) session_.engine().drop_drafts(session_.sequence);
}

// Whether the last token is the first of the side, which takes the place of the drafts that did not come true.
bool Drafts::turn_aside() {
  auto& [tokens, from, side] = guess_;
  if (side.empty() || right_ != from) return false;
  const bool right = session_.sequence.tokens.back() == side.front();
  const auto second = trust_ == runtime::Trust::model ? runtime::Trust::runner_up : runtime::Trust::other;
  session_.drafts.verdict(second, right, !right);
  if (!right) return false;
  session_.engine().take_branch(session_.sequence, branch_);
  row_ = tokens.size();
  tokens.resize(from);
  tokens.insert(tokens.end(), side.begin(), side.end());
  side.clear();
  return true;
}

bool Drafts::follow() {
  auto& sequence = session_.sequence;
  if (guess_.tokens.empty()) return false;
  const bool next = sequence.cached + 1 == sequence.tokens.size();
  if (!next || sequence.tokens.back() != guess_.tokens[right_]) {
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
  if (right_ == guess_.tokens.size()) settle();
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

// Leaves of the guess what is worth reading; false: nothing is.
bool Drafts::take(runtime::Trust trust) {
  auto& tokens = guess_.tokens;
  const auto possible = writer_.possible(std::span(tokens).first(std::min(tokens.size(), most())));
  const bool decided = trust == runtime::Trust::model;  // before it was asked
  trust_ = trust;
  tokens.resize(decided ? possible : std::size_t(session_.drafts.worth(trust, int(possible))));
  if (guess_.from < tokens.size() && session_.engine().can_branch())
    take_side();
  else
    guess_.side.clear();
  return !tokens.empty();
}

void Drafts::take_side() {
  const auto from = guess_.from;
  whole_.assign(guess_.tokens.begin(), guess_.tokens.begin() + std::ptrdiff_t(from));
  whole_.insert(whole_.end(), guess_.side.begin(), guess_.side.end());
  whole_.resize(std::min(whole_.size(), most()));
  const auto possible = writer_.possible(whole_);
  guess_.side.resize(std::size_t(session_.drafts.worth_aside(trust_, int(guess_.tokens.size()), int(from),
                                                             int(possible - std::min(possible, from)))));
}

void Drafts::ask(Guesser& guesser, const std::function<bool()>& stop) {
  const auto count = std::size_t(session_.drafts.worth(runtime::Trust::model, int(most())));
  if (count == 0) return;
  const auto started = writer_.seconds();
  if (guesser.follow(session_.sequence.tokens, stop)) {
    guess_.clear();
    guesser.guess(count, stop, guess_);
    take(runtime::Trust::model);
  }
  if (guess_.tokens.empty()) session_.drafts.in_vain(writer_.seconds() - started);
}

// What followed when the text last read like this, and what else did. Where a text repeats itself, the repetition goes
// on behind its end.
bool Drafts::remember() {
  const auto tokens = std::span<const TokenId>(session_.sequence.tokens);
  const auto found = runtime::continuation(tokens);
  if (found.match < least_match) return false;
  auto& next = guess_.tokens;
  while (!found.what.empty() && next.size() < most()) next.push_back(found.what[next.size() % found.what.size()]);
  const auto other = runtime::alternative(tokens, found.what, next.size(), least_match);
  const auto side = other.what.first(std::min(other.what.size(), most()));
  guess_.from = other.from, guess_.side.assign(side.begin(), side.end());
  return take(runtime::trust_in_match(found.match));
}

void Drafts::guess(const std::function<bool()>& stop) {
  try {
    const auto forced = writer_.forced();
    guess_.tokens.assign(forced.begin(), forced.end());
    if (take(runtime::Trust::grammar) || remember()) return;
    if (session_.guesser) ask(*session_.guesser, stop);
  } catch (const Error& error) {  // a grammar that takes too much, or no memory for a model: nothing is guessed
    guess_.clear();
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
  const auto& [drafts, from, side] = guess_;
  if (drafts.empty()) return false;
  auto& engine = session_.engine();
  runtime::Reading readings[] = {{&session_.sequence, 1, first_rows(drafts.size() + 1), drafts},
                                 {&branch_, 0, first_rows(side.size()), side, 0, int(from) + 1}};
  if (!side.empty()) engine.branch(session_.sequence, from + 1, branch_);
  const bool hidden = session_.guesser && session_.guesser->wants_hidden();
  hidden_.clear();
  engine.read(std::span(readings).first(side.empty() ? 1 : 2), logits_, stop, hidden ? &hidden_ : nullptr);
  rows_ = int(drafts.size() + side.size());
  note_hidden();
  return true;
}

bool Drafts::read(const std::function<bool()>& stop) {
  auto& sequence = session_.sequence;
  guess_.clear(), drop_side(), right_ = row_ = 0;
  if (!on_) return false;
  session_.engine().wake(sequence);
  if (sequence.cached + 1 != sequence.tokens.size()) return false;
  const auto started = writer_.seconds();
  bool done = false;
  try {
    done = step(stop);
  } catch (const std::bad_alloc&) {
  } catch (const Error& error) {
    guess_.clear(), drop_side();
    if (error.code() != Errc::memory) throw;  // without drafts there may be enough
  }
  if (!done) {
    guess_.clear(), drop_side();
    return false;
  }
  session_.drafts.draft_step(trust_, rows_, writer_.seconds() - started);
  writer_.stats.drafted_tokens += rows_;
  return true;
}

}  // namespace v0
}  // namespace inlay
