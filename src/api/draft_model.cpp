// Following a session with a smaller model, and speaking ahead of it.
#include "api/draft_model.hpp"

#include <algorithm>

namespace inlay {
inline namespace v0 {

namespace {

constexpr int spare_ids = 128;           // by which equal vocabularies may differ at their ends: padding
constexpr std::size_t tokens_aside = 4;  // of its own vocabulary, more than are asked for

bool same_vocabulary(const text::Tokenizer& a, const text::Tokenizer& b) {
  if (std::abs(a.size() - b.size()) > spare_ids) return false;
  for (TokenId id = 0; id < std::min(a.size(), b.size()); ++id)
    if (a.token_text(id) != b.token_text(id)) return false;
  return true;
}

std::string text_of(const text::Tokenizer& tokenizer, std::span<const TokenId> tokens) {
  std::string text;
  for (const auto id : tokens) tokenizer.append_piece(id, true, text);
  return text;
}

}  // namespace

DraftModel::DraftModel(std::shared_ptr<SessionState> own, const ModelState& large)
    : own_(std::move(own)),
      large_(*large.tokenizer),
      same_(same_vocabulary(*own_->model->tokenizer, large_)),
      logits_(own_->memory()) {
  if (own_->engine().reads_source())
    throw Error(Errc::unsupported, "an encoder-decoder cannot guess for another model", Fault::unsupported, "draft");
}

std::shared_ptr<Guesser> DraftModel::fork() const {
  auto copy = base::make_shared<SessionState>(own_->memory(), own_->model, own_->options);
  copy->sequence = own_->engine().fork(own_->sequence);
  return base::make_shared<DraftModel>(own_->memory(), std::move(copy), *this);
}

void DraftModel::read(const Stop& stop) {
  const auto last = own_->sequence.tokens.size() - 1;
  own_->read({.wants = [&](std::size_t i) { return i == last; }, .stop = stop, .rows = &logits_});
}

bool DraftModel::follow(std::span<const TokenId> tokens, const Stop& stop) {
  const auto& tokenizer = *own_->model->tokenizer;
  text::TokenIds own(own_->memory());
  if (!same_) {
    const bool bos = !tokens.empty() && tokens.front() == large_.bos();
    own = tokenizer.encode(text_of(large_, tokens.subspan(bos)), {.add_special = true, .parse_special = true});
    while (!own.empty() && own.back() == tokenizer.eos() && tokenizer.adds_eos()) own.pop_back();
    tokens = own;
  }
  const auto known = [&](TokenId id) { return id < own_->engine().vocabulary(); };
  if (tokens.empty() || tokens.size() >= own_->context() || !std::ranges::all_of(tokens, known)) return false;
  own_->replace(tokens);
  read(stop);
  return true;
}

void DraftModel::guess(std::size_t count, const Stop& stop, Guess& guess) {
  auto& tokens = own_->sequence.tokens;
  Forecast forecast(same_ ? count : count + tokens_aside, guess);
  while (forecast.add(known_logits()) && tokens.size() + 1 < own_->context()) {
    tokens.push_back(guess.tokens.back());
    read(stop);
  }
  if (!same_) {
    const auto said = translated(guess.tokens);
    guess.clear();
    guess.tokens.assign(said.begin(), said.end());
  }
  guess.tokens.resize(std::min(guess.tokens.size(), count));
}

// Of tokens that both know; padding at the end of the smaller model's vocabulary is nothing to guess.
std::span<const float> DraftModel::known_logits() const {
  const auto all = std::span(logits_);
  return same_ ? all.first(std::min(all.size(), std::size_t(large_.size()))) : all;
}

// In the large model's tokens, but for the last, to which the next text may belong.
std::vector<TokenId> DraftModel::translated(std::span<const TokenId> said) const {
  const auto text = text_of(*own_->model->tokenizer, said);
  auto tokens = large_.encode(text, {.parse_special = true});
  if (text_of(large_, tokens) != text) return {};  // the vocabulary begins a text otherwise than it goes on
  if (tokens.size() > 1) tokens.pop_back();
  return {tokens.begin(), tokens.end()};
}

}  // namespace v0
}  // namespace inlay
