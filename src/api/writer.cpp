// Making tokens one by one, and the text that may be shown after each.
#include "api/writer.hpp"

#include <algorithm>
#include <random>

namespace inlay {
inline namespace v0 {

namespace {

std::uint64_t seed_of(const Sampler& recipe) {
  if (recipe.seed) return *recipe.seed;
  std::random_device device;
  return (std::uint64_t(device()) << 32) | device();
}

}  // namespace

Writer::Writer(std::shared_ptr<const ModelState> model, const Sampler& recipe, Limits limits)
    : model_(std::move(model)),
      sampling_(recipe, seed_of(recipe), model_->tokenizer.get(), row_passes(), model_->memory),
      maxima_(row_passes(), model_->memory),
      limits_(std::move(limits)),
      asks_host_(recipe.adjust || limits_.guard.on_text || limits_.guard.on_finish),
      watch_(limits_.guard),
      decoder_(*model_->tokenizer),
      allowed_(model_->memory),
      leading_(model_->memory) {
  if (recipe.grammar) constraint_.emplace(recipe.grammar, model_->pieces());
  std::erase(limits_.stop, std::string());
}

void Writer::write_reply(const Grammar& grammar) {
  writes_marks_ = true;
  if (grammar) constraint_.emplace(grammar, model_->pieces_with_marks());
}

std::vector<TokenId> Writer::forced() const {
  const auto text = constraint_ ? constraint_->forced() : std::string();
  if (text.empty()) return {};
  const auto ids = model_->tokenizer->encode(text, {});
  return {ids.begin(), ids.end()};
}

std::size_t Writer::possible(std::span<const TokenId> tokens) const {
  const auto& tokenizer = *model_->tokenizer;
  const auto end = std::ranges::find_if(tokens, [&](TokenId id) { return tokenizer.ends_generation(id); });
  const auto count = limits_.ignore_end ? tokens.size() : std::size_t(end - tokens.begin());
  return constraint_ ? constraint_->possible(tokens.first(count)) : count;
}

bool Writer::admits(std::span<const TokenId> prompt) {
  if (limits_.guard.on_prompt && !prompt.empty() &&
      !watch_.admits(model_->tokenizer->decode(prompt, {.unparse_special = true})))
    finish = Finish::guarded;
  return finish == Finish::running;
}

double Writer::seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

std::optional<Finish> Writer::interrupted() const {
  if (limits_.cancel.stop_requested()) return Finish::cancelled;
  if (limits_.deadline.count() > 0 && Clock::now() - start_ >= limits_.deadline) return Finish::deadline;
  return std::nullopt;
}

void Writer::reused(const runtime::Reuse& reuse, std::size_t first) noexcept {
  stats.reused_tokens = int(reuse.read - std::min(reuse.read, first));
  stats.known_tokens = int(reuse.agreed - std::min(reuse.agreed, first));
  stats.reuse_end = reuse.end;
}

bool Writer::may_follow(std::size_t tokens) {
  if (finish != Finish::running) return false;
  if (limits_.tokens == 0)
    finish = Finish::token_limit;
  else if (tokens >= context())
    finish = Finish::context_full;
  else if (const auto why = interrupted())
    finish = *why;
  return finish == Finish::running;
}

void Writer::alternatives(std::span<const float> logits, double total) {
  maxima_.likeliest(logits, std::size_t(limits_.top_logprobs), leading_);
  alternatives_.clear();
  for (const auto& [id, logit] : leading_) alternatives_.push_back({id, float(logit - total)});
  token.alternatives = alternatives_;
}

Finish Writer::finish_after(std::size_t tokens) const {
  if (model_->tokenizer->ends_generation(token.id) && !limits_.ignore_end) return Finish::end_of_text;
  if (stats.generated_tokens == limits_.tokens) return Finish::token_limit;
  if (constraint_ && constraint_->finished()) return Finish::constraint_done;
  return tokens >= context() && !goes_on_when_full ? Finish::context_full : Finish::running;
}

TokenId Writer::next(std::span<const float> logits, std::span<const TokenId> tokens) {
  if (!constraint_) return sampling_.choose(logits, tokens, {}, &maxima_);
  allowed_.assign(logits.begin(), logits.end());
  constraint_->apply(allowed_);
  const auto id = sampling_.choose(allowed_, tokens);
  constraint_->accept(id);
  return id;
}

void Writer::write(std::span<const float> logits, std::pmr::vector<TokenId>& tokens) {
  choose(logits, tokens);
  describe(logits);
}

bool Writer::ends_by_text() const noexcept {
  return !limits_.stop.empty() || limits_.guard.on_text || limits_.guard.on_finish;
}

void Writer::choose(std::span<const float> logits, std::pmr::vector<TokenId>& tokens) {
  maxima_.find(logits);
  const auto id = next(logits, tokens);
  tokens.push_back(id);
  token.id = id;
  ++stats.generated_tokens;
  finish = finish_after(tokens.size());
}

void Writer::describe(std::span<const float> logits) {
  const auto total = maxima_.log_sum(logits);
  token.logprob = float(double(logits[std::size_t(token.id)]) - total);
  if (limits_.top_logprobs > 0) alternatives(logits, total);
  show();
}

void Writer::prepare() noexcept {
  try {
    if (constraint_ && finish == Finish::running) constraint_->prepare();
  } catch (...) {  // it is said when the token is chosen
  }
}

std::optional<std::size_t> Writer::find_stop() const {
  std::size_t found = std::string::npos;
  for (const auto& stop : limits_.stop) found = std::min(found, pending_.find(stop));
  return found == std::string::npos ? std::nullopt : std::optional(found);
}

// Bytes at the end of the pending text that may turn out to begin a stop text.
std::size_t Writer::held_back() const {
  std::size_t held = 0;
  for (const auto& stop : limits_.stop)
    for (auto n = std::min(stop.size() - 1, pending_.size()); n > held; --n)
      if (std::string_view(pending_).ends_with(std::string_view(stop).substr(0, n))) held = n;
  while (held < pending_.size() && held > 0 && continues_character(pending_[pending_.size() - held])) ++held;
  return held;
}

// Shows what the guard lets through; one that throws ends the text.
void Writer::watch(std::string_view ready) {
  text_.clear();
  const auto before = std::exchange(finish, Finish::cancelled);
  finish = watch_.pass(ready, before != Finish::running, text_) ? before : Finish::guarded;
}

void Writer::show() {
  const auto id = token.id;
  const bool last = finish != Finish::running;
  if (!model_->tokenizer->is_control(id)) {
    pending_ += decoder_.push(id);
  } else if (writes_marks_ && std::ranges::binary_search(model_->marks(), id)) {
    pending_ += decoder_.flush();
    pending_ += model_->tokenizer->token_text(id);
  }
  if (last) pending_ += decoder_.flush();
  std::size_t ready;
  if (const auto stop = find_stop()) {
    ready = *stop;
    finish = Finish::stop_text;
  } else {
    ready = last ? pending_.size() : pending_.size() - held_back();
  }
  watch(std::string_view(pending_).substr(0, ready));
  pending_.erase(0, ready);
  token.text = text_;
  shown += text_.size();
}

}  // namespace v0
}  // namespace inlay
