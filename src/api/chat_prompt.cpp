// A conversation as its template renders it, and as tokens.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/chat_state.hpp"

namespace inlay {
inline namespace v0 {

namespace {

using Json = nlohmann::ordered_json;

constexpr int deepest = 64;

Json parsed(const std::string& text, const char* what) {
  const auto shallow = [&](int depth, auto, auto&) {
    if (depth > deepest)
      throw Error(Errc::argument, std::string("the ") + what + " are nested too deeply", Fault::limit, what);
    return true;
  };
  auto object = Json::parse(text, shallow, false);
  if (!object.is_object())
    throw Error(Errc::argument, std::string("the ") + what + " are not a JSON object", Fault::bad_value, what);
  return object;
}

std::string printed(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json as_json(const ToolCall& call, bool arguments_as_text) {
  Json arguments = arguments_as_text ? Json(call.arguments) : parsed(call.arguments, "arguments");
  Json entry = {{"type", "function"}, {"function", {{"name", call.name}, {"arguments", std::move(arguments)}}}};
  if (!call.id.empty()) entry["id"] = call.id;
  return entry;
}

Json as_json(const Message& message, bool arguments_as_text, bool harmony) {
  Json entry = {{"role", message.role}, {"content", message.content}};
  if (!message.reasoning.empty()) {
    entry["reasoning_content"] = message.reasoning;
    if (harmony) entry["thinking"] = message.reasoning;
  }
  for (const auto& call : message.tool_calls) entry["tool_calls"].push_back(as_json(call, arguments_as_text));
  if (!message.fields.empty()) entry.update(parsed(message.fields, "fields"));
  return entry;
}

// The system's words before the first of the user.
std::vector<Message> with_system_in_user(std::vector<Message> messages) {
  const auto user = std::ranges::find(messages, "user", &Message::role);
  if (user == messages.end() || messages.front().role != "system") return messages;
  user->content = messages.front().content + "\n\n" + user->content;
  messages.erase(messages.begin());
  return messages;
}

// The variables of the caller, and the switches that this template has for what else was asked for.
std::string variables_of(const ChatOptions& options, const text::ChatTemplate& chat) {
  Json variables = options.variables.empty() ? Json::object() : parsed(options.variables, "variables");
  const auto set = [&](const char* name, Json value) {
    if (chat.mentions(name) && !variables.contains(name)) variables[name] = std::move(value);
  };
  const bool off = options.reasoning == Reasoning::off;
  if (options.reasoning != Reasoning::usual) {
    set("enable_thinking", !off);
    set("thinking", !off);
  }
  if (off) {
    const bool can_stop = chat.source().find("no_think") != std::string_view::npos;
    set("reasoning_effort", can_stop ? "no_think" : "low");
    set("thinking_budget", 0);
  } else if (options.reasoning_tokens >= 0) {
    set("thinking_budget", options.reasoning_tokens);
  }
  return variables.empty() ? std::string() : printed(variables);
}

}  // namespace

std::string result_fields(const ToolCall& call) { return printed({{"tool_call_id", call.id}, {"name", call.name}}); }

std::string token_text(const text::Tokenizer& tokenizer, TokenId id) {
  return id < 0 ? std::string() : std::string(tokenizer.token_text(id));
}

Prompt ChatState::render_as(const std::vector<Message>& shown, bool arguments_as_text, bool system_with_user) const {
  const auto& tokenizer = *model->tokenizer;
  const bool harmony = format.calls == text::OutputFormat::Calls::harmony;
  Json list = Json::array();
  for (const auto& message : system_with_user ? with_system_in_user(shown) : shown)
    list.push_back(as_json(message, arguments_as_text, harmony));
  return chat.render({.messages = printed(list),
                      .tools = options.tools,
                      .variables = variables_of(options, chat.state_->compiled),
                      .bos_token = token_text(tokenizer, tokenizer.bos()),
                      .eos_token = token_text(tokenizer, tokenizer.eos()),
                      .now = options.now});
}

// Templates differ in what they take: some want the arguments of calls as text, some refuse a system message.
Prompt ChatState::render(const std::vector<Message>& shown) const {
  const bool calls = std::ranges::any_of(shown, [](const Message& m) { return !m.tool_calls.empty(); });
  const bool system = !shown.empty() && shown.front().role == "system";
  try {
    return render_as(shown, false, false);
  } catch (const Error&) {
    for (const auto& [as_text, with_user] : {std::pair{true, false}, {false, true}, {true, true}}) {
      if ((as_text && !calls) || (with_user && !system)) continue;
      try {
        return render_as(shown, as_text, with_user);
      } catch (const Error&) {  // the first error is the one to tell
      }
    }
    throw;
  }
}

// How many of the session's tokens spell the beginning of a prompt, the model's own words as it chose to spell them.
// They end where a control token of the template follows, so that the rest is spelled as it would be alone.
std::size_t ChatState::known_tokens(const Prompt& prompt, std::size_t& bytes) const {
  const auto& tokenizer = *model->tokenizer;
  const auto tokens = session.tokens();
  if (read_tokens == 0 || tokens.size() < read_tokens || !prompt.text.starts_with(read_text)) return 0;
  std::size_t known = 0, at = read_text.size();
  for (auto i = read_tokens; i < tokens.size(); ++i) {
    std::string piece;
    tokenizer.append_piece(tokens[i], true, piece);
    if (tokenizer.is_control(tokens[i])) known = i, bytes = at;
    if (piece.empty() || !std::string_view(prompt.text).substr(at).starts_with(piece)) return known;
    at += piece.size();
  }
  return known;
}

text::TokenIds ChatState::tokens_of(const Prompt& prompt) const {
  const auto& tokenizer = *model->tokenizer;
  std::size_t skipped = 0;
  const auto known = known_tokens(prompt, skipped);
  std::pmr::vector<text::Segment> segments(model->memory);
  for (const auto& span : prompt.spans) {
    const auto begin = std::max(span.begin, skipped);
    if (begin >= span.end) continue;
    segments.push_back(
        {std::string_view(prompt.text).substr(begin, span.end - begin), span.kind == PromptSpan::Kind::template_text});
  }
  const auto bos = token_text(tokenizer, tokenizer.bos());
  const bool writes_bos = !bos.empty() && prompt.text.starts_with(bos);  // then it is not doubled
  auto rest = tokenizer.encode(segments, known == 0 && !writes_bos);
  if (known == 0) return rest;
  const auto read = session.tokens().first(known);
  rest.insert(rest.begin(), read.begin(), read.end());
  return rest;
}

}  // namespace v0
}  // namespace inlay
