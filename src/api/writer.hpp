// A text that is being written: what makes the next token of the model's logits, what of it may be shown, and why it
// ended.
#pragma once

#include <chrono>

#include "api/row_passes.hpp"
#include "api/state.hpp"
#include "api/watch.hpp"
#include "runtime/sampling.hpp"
#include "text/stream_decoder.hpp"

namespace inlay {
inline namespace v0 {

class Writer {
 public:
  Writer(std::shared_ptr<const ModelState> model, const Sampler& recipe, Limits limits);

  // Whether the guard lets this prompt be read; where not, `finish` says so.
  bool admits(std::span<const TokenId> prompt);
  // A cancel that was asked for, or the deadline.
  std::optional<Finish> interrupted() const;
  // Whether a token may follow these; where none may, `finish` says why.
  bool may_follow(std::size_t tokens);
  // Chooses the token after `tokens` and appends it: `token` is it, and `finish` may end the text. Writers may do so
  // side by side, but for those that ask a function of the host.
  void write(std::span<const float> logits, std::pmr::vector<TokenId>& tokens);
  bool asks_host() const noexcept { return asks_host_; }
  // The same in two parts: what the next step waits for, and from the same logits the token's probabilities and text.
  void choose(std::span<const float> logits, std::pmr::vector<TokenId>& tokens);
  void describe(std::span<const float> logits);
  bool ends_by_text() const noexcept;  // so that only both parts say whether it goes on
  // Finds out what the grammar allows next, before the logits are there.
  bool has_grammar() const noexcept { return constraint_.has_value(); }
  void prepare() noexcept;

  // Makes the text a reply of a chat: marks are written out, and it belongs to the grammar.
  void write_reply(const Grammar& grammar);

  // The tokens of the text that must come next, as the grammar says; how many of these it allows.
  std::vector<TokenId> forced() const;
  std::size_t possible(std::span<const TokenId> tokens) const;

  const Limits& limits() const noexcept { return limits_; }
  double seconds() const;  // since it was made
  // Notes what was known of the prompt, which begins at `first` of the session's tokens.
  void reused(const runtime::Reuse& reuse, std::size_t first) noexcept;

  Token token;
  Finish finish = Finish::running;
  bool goes_on_when_full = false;  // its session makes room
  Stats stats;
  std::size_t shown = 0;  // bytes of text

 private:
  using Clock = std::chrono::steady_clock;

  std::size_t context() const noexcept { return std::size_t(model_->engine->context()); }
  void show();
  TokenId next(std::span<const float> logits, std::span<const TokenId> tokens);
  void alternatives(std::span<const float> logits, double total);
  Finish finish_after(std::size_t tokens) const;
  void watch(std::string_view ready);
  std::optional<std::size_t> find_stop() const;
  std::size_t held_back() const;

  std::shared_ptr<const ModelState> model_;
  runtime::Sampling sampling_;
  runtime::Maxima maxima_;  // of the model's logits
  std::optional<runtime::Constraint> constraint_;
  Limits limits_;
  bool writes_marks_ = false, asks_host_;
  Watch watch_;
  Clock::time_point start_ = Clock::now();
  text::StreamDecoder decoder_;
  std::pmr::vector<float> allowed_;  // logits, where the grammar forbids some
  runtime::CandidateList leading_;
  std::vector<Alternative> alternatives_;
  std::string pending_, text_;  // decoded but not shown; shown with the token
};

}  // namespace v0
}  // namespace inlay
