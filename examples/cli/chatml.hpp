// Conversations in ChatML, the template of the model that comes with the source, tools included.
#pragma once

#include <string>
#include <vector>

#include "cli/json.hpp"
#include "inlay/inlay.hpp"

namespace cli {

// The tokens of a conversation up to the turn that the model is to write. `messages` and `tools` are lists as in the
// OpenAI interface. Contents are text: what spells a control token in them stays text.
// Throws Error{unsupported} where the vocabulary has no ChatML tokens, Error{argument} for a message that is none.
std::vector<inlay::TokenId> chatml(const inlay::Model&, const Json& messages, const Json& tools);

// An answer taken apart: {"content", "reasoning", "tool_calls": [{"name", "arguments"}]}.
Json parse_answer(const std::string& answer);

}  // namespace cli
