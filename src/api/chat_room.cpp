// Which turns of a conversation its model is shown, when all of them do not fit into its context.
#include <algorithm>

#include "api/chat_state.hpp"

namespace inlay {
inline namespace v0 {

std::size_t ChatState::first_turn() const {
  const auto of_system = [](const Message& message) { return message.role == "system" || message.role == "developer"; };
  return std::size_t(std::ranges::find_if_not(messages, of_system) - messages.begin());
}

std::vector<std::size_t> ChatState::cuts(std::size_t count) const {
  std::vector<std::size_t> cuts;
  const auto first = first_turn();
  for (auto i = first + left_out + 1; i < count; ++i)
    if (messages[i].role == "user") cuts.push_back(i - first);
  return cuts;
}

Shown ChatState::show(std::size_t count, std::size_t without) const {
  std::vector<Message> shown(messages.begin(), messages.begin() + std::ptrdiff_t(count));
  const auto first = shown.begin() + std::ptrdiff_t(first_turn());
  shown.erase(first, first + std::ptrdiff_t(without));
  auto prompt = render(shown);
  auto tokens = tokens_of(prompt);
  return {std::move(prompt), std::move(tokens)};
}

bool ChatState::leave_out_turns(std::size_t count, std::size_t beside, Shown& shown) {
  const auto choices = cuts(count);
  if (choices.empty()) return false;
  const auto context = std::size_t(model->engine->context());
  const auto too_long = [&](std::size_t without) { return show(count, without).tokens.size() + beside > context / 2; };
  const auto chosen = *std::partition_point(choices.begin(), choices.end() - 1, too_long);
  auto rest = show(count, chosen);
  if (rest.tokens.size() + beside >= context) return false;
  shown = std::move(rest);
  left_out = chosen;
  return true;
}

void ChatState::note_reading(const Shown& shown) {
  read_text = shown.prompt.text;
  read_tokens = shown.tokens.size();
}

GenerationState::Dropped ChatState::make_room(std::size_t count, SessionState& full) {
  const auto& tokens = full.sequence.tokens;
  const text::TokenIds reply(tokens.begin() + std::ptrdiff_t(read_tokens), tokens.end(), model->memory);
  const auto before = left_out;
  Shown shown{.prompt = {}, .tokens = text::TokenIds(model->memory)};
  if (count > messages.size() || !leave_out_turns(count, reply.size(), shown)) return {.again = false};
  const auto dropped = read_tokens - shown.tokens.size();
  note_reading(shown);
  shown.tokens.insert(shown.tokens.end(), reply.begin(), reply.end());
  full.replace(shown.tokens);
  if (budget_) budget_->move_back(dropped);
  return {.tokens = dropped, .messages = left_out - before, .again = !cuts(count).empty()};
}

}  // namespace v0
}  // namespace inlay
