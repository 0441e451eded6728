// Replies: the parts of what a generation writes, one after the other.
#include "api/reply.hpp"

#include <fmt/format.h>

#include "api/guarded.hpp"

namespace inlay {
inline namespace v0 {

using api::guarded;

namespace {

// Unlike that of any other call in a chat. Some templates insist on nine letters and digits.
std::string call_id(std::size_t turn, std::size_t call) {
  return fmt::format("t{:04}c{:03}", turn % 10000, call % 1000);
}

void write_down(Message& message, const text::OutputDelta& delta, std::size_t turn) {
  using Kind = text::OutputDelta::Kind;
  switch (delta.kind) {
    case Kind::content: message.content += delta.text; break;
    case Kind::reasoning: message.reasoning += delta.text; break;
    case Kind::tool_name:
      message.tool_calls.push_back({delta.text, {}, call_id(turn, message.tool_calls.size())});
      break;
    case Kind::tool_arguments: message.tool_calls.back().arguments += delta.text; break;
    case Kind::content_is_reasoning: message.reasoning += std::exchange(message.content, {}); break;
  }
}

}  // namespace

ReplyState::ReplyState(Generation g, std::shared_ptr<ChatState> of, const Prompt& prompt)
    : generation(std::move(g)),
      output(of->format, of->begins_in_reasoning(prompt), of->options.tools),
      chat(std::move(of)),
      turn(chat->messages.size()) {
  chat->messages.push_back({"assistant", {}});
}

void ReplyState::take(std::vector<text::OutputDelta> deltas) {
  for (auto& delta : deltas) {
    if (turn < chat->messages.size()) write_down(chat->messages[turn], delta, turn);
    ahead.push_back(std::move(delta));
  }
}

void ReplyState::next() {
  if (!ahead.empty()) ahead.pop_front();
  while (ahead.empty() && !ended) {
    begun ? void(++at) : void(at = generation.begin());
    begun = true;
    if (at == std::default_sentinel) {
      ended = true;
      take(output.finish());
    } else {
      take(output.push(at->text));
    }
  }
  over = ahead.empty();
  part = over ? ReplyPart() : ReplyPart{ReplyPart::Kind(ahead.front().kind), ahead.front().text};
}

Reply::Reply(std::shared_ptr<ReplyState> state) noexcept : state_(std::move(state)) {}
Reply::Reply(Reply&&) noexcept = default;
Reply& Reply::operator=(Reply&&) noexcept = default;
Reply::~Reply() = default;

Reply::iterator Reply::begin() & {
  iterator i;
  i.state_ = state_;
  if (!state_->begun) ++i;
  return i;
}

Reply::iterator& Reply::iterator::operator++() {
  guarded([&] { state_->next(); });
  return *this;
}

const ReplyPart& Reply::iterator::operator*() const noexcept { return state_->part; }
bool Reply::iterator::done() const noexcept { return state_->over; }

std::string Reply::text() {
  return guarded([&] {
    std::string all;
    for (state_->next(); !state_->over; state_->next()) {
      if (state_->part.kind == ReplyPart::Kind::answer_was_reasoning) all.clear();
      all += std::string_view(state_->part);
    }
    return all;
  });
}

Message Reply::message() {
  (void)text();
  return guarded([&] {
    const auto& [content, reasoning, calls] = state_->output.message();
    Message message{"assistant", content, {}, reasoning, {}};
    for (const auto& call : calls)
      message.tool_calls.push_back({call.name, call.arguments, call_id(state_->turn, message.tool_calls.size())});
    return message;
  });
}

Finish Reply::finish() const noexcept { return state_->generation.finish(); }
const Stats& Reply::stats() const& noexcept { return state_->generation.stats(); }

}  // namespace v0
}  // namespace inlay
