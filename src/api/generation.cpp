// Making tokens one by one, and the text that may be shown after each.
#include "api/generation.hpp"

#include <algorithm>
#include <random>

#include "api/guarded.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

std::uint64_t seed_of(const Sampler& recipe) {
  if (recipe.seed) return *recipe.seed;
  std::random_device device;
  return (std::uint64_t(device()) << 32) | device();
}

double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

void check(const Sampler& s) {
  const auto refuse = [](const char* field, const char* why) {
    throw Error(Errc::argument, std::string("Sampler::") + field + " " + why, Fault::bad_value, field);
  };
  if (!(s.temperature >= 0 && s.temperature < 1e6f)) refuse("temperature", "must be 0 or above");
  if (!(s.repeat_penalty > 0 && s.repeat_penalty < 1e6f)) refuse("repeat_penalty", "must be above 0");
  if (!(s.top_p > 0)) refuse("top_p", "must be above 0");
  if (!(s.min_p >= 0 && s.min_p <= 1)) refuse("min_p", "must be in [0, 1]");
  if (s.top_k < 0) refuse("top_k", "must not be negative");
}

}  // namespace

GenerationState::GenerationState(std::shared_ptr<SessionState> s, const Sampler& recipe, Limits given)
    : session_(std::move(s)),
      asked_(session_->asked),
      sampling_(recipe, seed_of(recipe)),
      limits_(std::move(given)),
      decoder_(*session_->model->tokenizer) {
  check(recipe);
  if (recipe.grammar) constraint_.emplace(recipe.grammar, session_->model->pieces());
  std::erase(limits_.stop, std::string());
}

std::optional<Finish> GenerationState::interrupted() const {
  if (limits_.cancel.stop_requested()) return Finish::cancelled;
  if (limits_.deadline.count() > 0 && Clock::now() - start_ >= limits_.deadline) return Finish::deadline;
  return std::nullopt;
}

bool GenerationState::read_prompt(std::size_t added) {
  auto& tokens = session_->sequence.tokens;
  stats.prompt_tokens = int(added);
  const auto first = tokens.size() - added;
  const auto progress = [&](std::size_t read) {
    if (limits_.progress) limits_.progress(int(read - std::min(read, first)), int(added));
  };
  try {
    session_->read(
        {.wants = [&](std::size_t i) { return i + 1 == tokens.size(); },
         .take = [&](std::size_t, std::span<const float> logits) { logits_.assign(logits.begin(), logits.end()); },
         .progress = progress,
         .stop = [&] { return interrupted().has_value(); }});
  } catch (const Error& error) {
    if (error.code() != Errc::cancelled) throw;
    finish = interrupted().value_or(Finish::cancelled);
    return false;
  }
  stats.prompt_seconds = seconds(Clock::now() - start_);
  return true;
}

// Runs the model over the token before. False where a cancel or the deadline came between; that token then stays
// unread.
bool GenerationState::read_last() {
  try {
    const auto last = session_->sequence.tokens.size() - 1;
    session_->read(
        {.wants = [&](std::size_t i) { return i == last; },
         .take = [&](std::size_t, std::span<const float> logits) { logits_.assign(logits.begin(), logits.end()); },
         .stop = [&] { return interrupted().has_value(); }});
  } catch (const Error& error) {
    if (error.code() != Errc::cancelled) throw;
    finish = interrupted().value_or(Finish::cancelled);
    return false;
  }
  return true;
}

void GenerationState::next() {
  if (finish != Finish::running || session_->asked != asked_) {
    if (finish == Finish::running) finish = Finish::cancelled;
    over = true;
    return;
  }
  const auto started = Clock::now();
  const bool first = stats.generated_tokens == 0;
  if (limits_.tokens == 0)
    finish = Finish::token_limit;
  else if (session_->sequence.tokens.size() >= session_->context())
    finish = Finish::context_full;
  else if (const auto why = interrupted())
    finish = *why;
  if (finish == Finish::running && (first || read_last()))
    choose();
  else
    over = true;
  stats.generate_seconds += seconds(Clock::now() - started);
}

void GenerationState::alternatives(std::span<const float> raw) {
  alternatives_.clear();
  const auto total = runtime::log_sum(raw);
  for (const auto& [id, logit] : runtime::likeliest(raw, std::size_t(std::max(0, limits_.top_logprobs))))
    alternatives_.push_back({id, float(logit - total)});
  token.alternatives = alternatives_;
}

void GenerationState::choose() {
  auto& tokens = session_->sequence.tokens;
  const auto raw = logits_;
  if (constraint_) constraint_->apply(logits_);
  token.id = sampling_.choose(logits_, tokens);
  token.logprob = float(double(raw[std::size_t(token.id)]) - runtime::log_sum(raw));
  if (limits_.top_logprobs > 0) alternatives(raw);
  if (constraint_) constraint_->accept(token.id);
  tokens.push_back(token.id);
  ++stats.generated_tokens;
  const auto& tokenizer = *session_->model->tokenizer;
  if (tokenizer.ends_generation(token.id) && !limits_.ignore_end)
    finish = Finish::end_of_text;
  else if (stats.generated_tokens == limits_.tokens)
    finish = Finish::token_limit;
  else if (constraint_ && constraint_->finished())
    finish = Finish::constraint_done;
  else if (tokens.size() >= session_->context())
    finish = Finish::context_full;
  show(token.id, finish != Finish::running);
}

std::optional<std::size_t> GenerationState::find_stop() const {
  std::size_t found = std::string::npos;
  for (const auto& stop : limits_.stop) found = std::min(found, pending_.find(stop));
  return found == std::string::npos ? std::nullopt : std::optional(found);
}

// Bytes at the end of the pending text that may turn out to begin a stop text.
std::size_t GenerationState::held_back() const {
  std::size_t held = 0;
  for (const auto& stop : limits_.stop)
    for (auto n = std::min(stop.size() - 1, pending_.size()); n > held; --n)
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) held = n;
  while (held < pending_.size() && held > 0 && continues_character(pending_[pending_.size() - held])) ++held;
  return held;
}

void GenerationState::show(TokenId id, bool last) {
  if (!session_->model->tokenizer->is_control(id)) pending_ += decoder_.push(id);
  if (last) pending_ += decoder_.flush();
  std::size_t ready;
  if (const auto stop = find_stop()) {
    ready = *stop;
    finish = Finish::stop_text;
  } else {
    ready = last ? pending_.size() : pending_.size() - held_back();
  }
  text_ = pending_.substr(0, ready);
  pending_.erase(0, ready);
  token.text = text_;
  shown += text_.size();
  if (shown_to) shown_to(text_);
}

Generation::Generation(std::unique_ptr<GenerationState> state) noexcept : state_(std::move(state)) {}
Generation::Generation(Generation&&) noexcept = default;
Generation& Generation::operator=(Generation&&) noexcept = default;
Generation::~Generation() = default;

Generation::iterator Generation::begin() {
  iterator i;
  i.of_ = this;
  if (!state_->begun) {
    state_->begun = true;
    ++i;
  }
  return i;
}

Generation::iterator& Generation::iterator::operator++() {
  guarded([&] { of_->state_->next(); });
  return *this;
}

const Token& Generation::iterator::operator*() const noexcept { return of_->state_->token; }
bool Generation::iterator::done() const noexcept { return of_->state_->over; }

std::string Generation::text() {
  return guarded([&] {
    std::string all;
    state_->begun = true;
    for (state_->next(); !state_->over; state_->next()) all += state_->token.text;
    return all;
  });
}

std::size_t Generation::text_end() const noexcept { return state_->shown; }
Finish Generation::finish() const noexcept { return state_->finish; }
const Stats& Generation::stats() const noexcept { return state_->stats; }

}  // namespace v0
}  // namespace inlay
