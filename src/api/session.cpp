// Sessions: reading tokens in chunks, and going back when that fails.
#include "inlay/session.hpp"

#include <algorithm>
#include <cmath>

#include "api/generation.hpp"
#include "api/guarded.hpp"
#include "api/guesser.hpp"
#include "api/row_passes.hpp"
#include "api/state.hpp"
#include "runtime/sampling.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

constexpr std::size_t most_logit_bytes = std::size_t(64) << 20;  // of one step

}  // namespace

text::TokenIds SessionState::encode(std::string_view text, bool parse_specials) const {
  const bool begins = sequence.tokens.empty() && !engine().reads_source();
  return model->tokenizer->encode(text, {.add_special = begins, .parse_special = parse_specials});
}

void SessionState::check_ids(std::span<const TokenId> ids) const {
  for (const auto id : ids)
    if (id < 0 || id >= engine().vocabulary())
      throw Error(
          Errc::argument,
          "the token " + std::to_string(id) + " is not in the vocabulary of " + std::to_string(engine().vocabulary()),
          Fault::out_of_bounds, "tokens");
}

void SessionState::require_causal() const {
  if (engine().looks_ahead())
    throw Error(Errc::unsupported,
                "this model sees what comes after a token, too: evaluate() says what it fills a text in with, and it "
                "writes none on",
                Fault::unsupported, "general.architecture");
}

void SessionState::append(std::span<const TokenId> ids) {
  check_ids(ids);
  if (ids.size() > context() - sequence.tokens.size())
    throw Error(Errc::argument,
                std::to_string(ids.size()) + " tokens do not fit: the context of " + std::to_string(context()) +
                    " has room for " + std::to_string(context() - sequence.tokens.size()),
                Fault::limit, "tokens");
  sequence.tokens.insert(sequence.tokens.end(), ids.begin(), ids.end());
}

runtime::Reuse SessionState::read(const Reader& reader) {
  auto& tokens = sequence.tokens;
  if (tokens.empty()) throw Error(Errc::argument, "there is nothing to read: the prompt and the session are empty");
  require_source();
  const bool whole = engine().looks_ahead();
  const auto first = whole ? 0 : std::min(reader.first, tokens.size() - 1);
  engine().read_again(sequence, first);
  const auto reuse = engine().reuse(sequence, first);
  engine().wake(sequence);
  const auto most_rows =
      whole ? tokens.size() : std::max<std::size_t>(1, most_logit_bytes / (engine().vocabulary() * sizeof(float)));
  const bool guessed_from = guesser && guesser->wants_hidden();
  runtime::Engine::Rows own(memory()), hidden(memory());
  auto& logits = reader.rows ? *reader.rows : own;
  while (sequence.cached < tokens.size()) {
    if (reader.stop && reader.stop()) throw Error(Errc::cancelled, "the session was told to stop");
    runtime::Reading reading{&sequence, 0, {}};
    const auto begin = sequence.cached, end = engine().end_of_chunk(sequence);
    wanted_.clear();
    for (auto i = begin; i < end && wanted_.size() < most_rows; ++i, ++reading.count)
      if (reader.wants(i)) wanted_.push_back(reading.count);
    reading.wanted = wanted_;
    engine().read({&reading, 1}, logits, reader.stop, guessed_from ? &hidden : nullptr);
    if (guessed_from) guesser->hidden(tokens, begin, hidden);
    const auto width = logits.size() / std::max<std::size_t>(1, reading.wanted.size());
    for (std::size_t row = 0; reader.take && row < reading.wanted.size(); ++row)
      reader.take(begin + std::size_t(reading.wanted[row]), std::span(logits).subspan(row * width, width));
    if (reader.progress) reader.progress(sequence.cached);
  }
  return reuse;
}

Session::Session(std::shared_ptr<SessionState> state) noexcept : state_(std::move(state)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Generation Session::generate(std::string_view prompt, const Sampler& sampler, Limits limits) & {
  return guarded([&] {
    const auto ids = state_->encode_prompt(prompt, limits.parse_specials);
    return generate(std::span<const TokenId>(ids), sampler, std::move(limits));
  });
}

Generation Session::generate(std::span<const TokenId> prompt, const Sampler& sampler, Limits limits) & {
  return guarded([&] {
    state_->ask();
    Rollback rollback(*state_);
    auto generation = base::make_shared<GenerationState>(state_->memory(), state_, sampler, std::move(limits));
    if (generation->writer.admits(prompt) && generation->read_prompt(prompt, rollback)) rollback.keep();
    return Generation(std::move(generation));
  });
}

std::vector<float> Session::evaluate(std::span<const TokenId> tokens, std::span<const int> wanted) {
  return guarded([&] {
    if (tokens.empty()) throw Error(Errc::argument, "evaluate() needs at least one token", Fault::bad_value, "tokens");
    for (const int position : wanted)
      if (position < 0 || std::size_t(position) >= tokens.size())
        throw Error(
            Errc::argument,
            "the position " + std::to_string(position) + " is outside the " + std::to_string(tokens.size()) + " tokens",
            Fault::out_of_bounds, "wanted");
    state_->ask();
    Rollback rollback(*state_);
    const auto start = state_->sequence.tokens.size(), width = std::size_t(state_->engine().vocabulary());
    const int last[] = {int(tokens.size()) - 1};
    if (wanted.empty()) wanted = last;
    std::pmr::vector<std::pmr::vector<std::size_t>> rows(tokens.size(),
                                                         state_->memory());  // which results a position fills
    for (std::size_t i = 0; i < wanted.size(); ++i) rows[std::size_t(wanted[i])].push_back(i);
    std::vector<float> result(wanted.size() * width);
    state_->append(tokens);
    const auto first = start + std::size_t(*std::min_element(wanted.begin(), wanted.end()));
    state_->read({.first = first,
                  .wants = [&](std::size_t i) { return i >= start && !rows[i - start].empty(); },
                  .take =
                      [&](std::size_t i, std::span<const float> logits) {
                        for (const auto row : rows[i - start])
                          std::copy(logits.begin(), logits.end(), result.begin() + std::ptrdiff_t(row * width));
                      }});
    rollback.keep();
    return result;
  });
}

double Session::score(std::string_view text) {
  return guarded([&] {
    state_->require_causal();
    auto ids = state_->encode(text, false);
    state_->ask();
    const Rollback rollback(*state_);
    if (state_->engine().reads_source()) state_->begin_writing();
    auto& tokens = state_->sequence.tokens;
    auto start = tokens.size();
    if (start == 0 && !ids.empty()) start = 1;  // nothing comes before the first token
    state_->append(ids);
    double sum = 0;
    if (start >= tokens.size()) return sum;
    state_->read({.first = start - 1,
                  .wants = [&](std::size_t i) { return i + 1 >= start && i + 1 < tokens.size(); },
                  .take =
                      [&](std::size_t i, std::span<const float> logits) {
                        sum += double(logits[std::size_t(tokens[i + 1])]) - runtime::log_sum(logits, row_passes());
                      }});
    return sum;
  });
}

std::span<const TokenId> Session::tokens() const& noexcept { return state_->sequence.tokens; }
std::size_t Session::room() const noexcept { return state_->context() - state_->sequence.tokens.size(); }

void Session::rewind(std::size_t length) {
  if (length > state_->sequence.tokens.size())
    throw Error(Errc::argument,
                "cannot rewind to " + std::to_string(length) + " tokens: there are only " +
                    std::to_string(state_->sequence.tokens.size()),
                Fault::out_of_bounds, "length");
  state_->ask();
  state_->engine().rewind(state_->sequence, length);
}

void Session::drop(std::size_t first, std::size_t count) {
  guarded([&] {
    const auto size = state_->sequence.tokens.size();
    if (first > size || count > size - first)
      throw Error(Errc::argument,
                  "cannot drop " + std::to_string(count) + " tokens from " + std::to_string(first) +
                      " on: there are only " + std::to_string(size),
                  Fault::out_of_bounds, "count");
    state_->ask();
    state_->engine().drop(state_->sequence, first, count);
  });
}

Session Session::fork() const {
  return guarded([&] {
    state_->settle();
    auto copy = base::make_shared<SessionState>(state_->memory(), state_->model, state_->options);
    copy->sequence = state_->engine().fork(state_->sequence);
    copy->drafts = state_->drafts;
    if (state_->guesser) copy->guesser = state_->guesser->fork();
    return Session(std::move(copy));
  });
}

}  // namespace v0
}  // namespace inlay
