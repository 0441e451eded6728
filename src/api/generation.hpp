// A running generation: its sampler's state, the text held back, and why it ended.
#pragma once

#include <chrono>

#include "api/state.hpp"
#include "runtime/sampling.hpp"
#include "text/stream_decoder.hpp"

namespace inlay {
inline namespace v0 {

struct GenerationState {
  GenerationState(std::shared_ptr<SessionState> s, const Sampler& recipe, Limits given);

  bool read_prompt(std::size_t added);  // false where a cancel or the deadline ended it
  void next();                          // makes `token`, or ends

  Token token;
  Finish finish = Finish::running;
  Stats stats;
  std::size_t shown = 0;  // bytes of text
  bool begun = false, over = false;
  std::function<void(std::string_view)> shown_to = {};  // every text that is shown, as it is

 private:
  using Clock = std::chrono::steady_clock;

  std::optional<Finish> interrupted() const;
  bool read_last();
  void choose();
  void alternatives(std::span<const float> raw);
  void show(TokenId id, bool last);
  std::optional<std::size_t> find_stop() const;
  std::size_t held_back() const;

  std::shared_ptr<SessionState> session_;
  std::uint64_t asked_;
  runtime::Sampling sampling_;
  std::optional<runtime::Constraint> constraint_;
  Limits limits_;
  Clock::time_point start_ = Clock::now();
  text::StreamDecoder decoder_;
  std::vector<float> logits_;
  std::vector<Alternative> alternatives_;
  std::string pending_, text_;  // decoded but not shown; shown with the token
};

}  // namespace v0
}  // namespace inlay
