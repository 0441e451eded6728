// Following a session with heads, and asking them what comes next.
#include "api/draft_heads.hpp"

#include <algorithm>

namespace inlay {
inline namespace v0 {

std::shared_ptr<Guesser> DraftHeads::fork() const {
  auto copy = base::make_shared<DraftHeads>(heads_.memory(), heads_);
  copy->own_ = heads_.fork(own_);
  copy->start_ = start_, copy->rows_ = rows_;
  return copy;
}

void DraftHeads::restart(std::size_t at) noexcept {
  heads_.release(own_);
  rows_.clear();
  start_ = at;
}

void DraftHeads::hidden(std::span<const TokenId> tokens, std::size_t first, std::span<const float> rows) {
  if (heads_.heads() > 0) {  // they look at nothing but the last row
    restart(first + rows.size() / width_ - 1);
    rows_.assign(rows.end() - std::ptrdiff_t(width_), rows.end());
    return;
  }
  if (first < start_ || first > end()) restart(first);
  if (const auto known = first - start_; known < own_.tokens.size()) heads_.rewind(own_, known);
  if (!std::ranges::equal(own_.tokens, tokens.subspan(start_ + 1, own_.tokens.size()))) restart(first);  // some went
  const auto known = first - start_;  // rows that stay
  rows_.resize((known - own_.tokens.size()) * width_);
  rows_.insert(rows_.end(), rows.begin(), rows.end());
  if (unread() > std::size_t(heads_.chunk())) try {
      read(tokens, {});
    } catch (const Error&) {  // guesses are not worth an error
      restart(end());
    }
}

// Tokens of own_ behind those it has, with a row of what was made of the token before each.
void DraftHeads::step(std::span<const TokenId> tokens, std::span<const float> given, const Stop& stop) {
  const auto before = own_.tokens.size();
  own_.tokens.insert(own_.tokens.end(), tokens.begin(), tokens.end());
  const int last = int(tokens.size()) - 1;
  const runtime::Reading reading{.sequence = &own_, .count = int(tokens.size()), .wanted = {&last, 1}, .given = given};
  runtime::Engine::Rows made(heads_.memory());
  const bool goes_on = heads_.heads() == 0;
  try {
    heads_.read({&reading, 1}, logits_, stop, goes_on ? &made : nullptr);
  } catch (...) {
    heads_.rewind(own_, before);
    throw;
  }
  last_row_.assign(made.end() - std::ptrdiff_t(goes_on ? width_ : 0), made.end());
}

// All whose next token is known.
void DraftHeads::read(std::span<const TokenId> tokens, const Stop& stop) {
  for (;;) {
    const auto next = std::min(tokens.size(), start_ + own_.tokens.size() + 1);
    const auto count = std::min({unread(), tokens.size() - next, std::size_t(heads_.chunk())});
    if (count == 0) return;
    step(tokens.subspan(next, count), std::span(rows_).first(count * width_), stop);
    rows_.erase(rows_.begin(), rows_.begin() + std::ptrdiff_t(count * width_));
  }
}

bool DraftHeads::follow(std::span<const TokenId> tokens, const Stop& stop) {
  const bool ready = unread() > 0 && end() + 1 == tokens.size();
  if (heads_.heads() == 0) {
    read(tokens, stop);
  } else if (ready) {
    heads_.release(own_);
    step(tokens.last(1), rows_, stop);
  }
  return ready;
}

void DraftHeads::guess(std::size_t count, const Stop& stop, Guess& guess) {
  const auto before = own_.tokens.size(), width = std::size_t(heads_.vocabulary());
  Forecast forecast(count, guess);
  if (const int heads = heads_.heads(); heads > 0) {
    const auto logits = std::span<const float>(logits_);
    for (int k = 0; k < heads && forecast.add(logits.subspan(std::size_t(k) * width, width)); ++k) {
    }
    heads_.release(own_);
  } else {
    while (forecast.add(logits_) && own_.tokens.size() < std::size_t(heads_.context()))
      step(std::span(guess.tokens).last(1), last_row_, stop);
    heads_.rewind(own_, before);
  }
}

}  // namespace v0
}  // namespace inlay
