// Turns as tokens, and answers as text and tool calls.
#include "cli/chatml.hpp"

namespace cli {
namespace {

using inlay::Errc, inlay::Error, inlay::TokenId;

TokenId control(const inlay::Model& model, const std::string& text) {
  const auto ids = model.tokenize(text, {.parse_specials = true});
  if (ids.size() == 1) return ids.front();
  throw Error(Errc::unsupported, "the vocabulary has no " + text + ": this model does not speak ChatML");
}

// JSON with blanks after colons and commas, as chat templates print it.
std::string spaced(const Json& value) {
  std::string out;
  bool quoted = false, escaped = false;
  for (const char c : value.dump(-1, ' ', false, Json::error_handler_t::replace)) {
    out.push_back(c);
    if (!quoted && (c == ':' || c == ',')) out.push_back(' ');
    if (c == '"' && !escaped) quoted = !quoted;
    escaped = quoted && c == '\\' && !escaped;
  }
  return out;
}

std::string field(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || found->is_null()) return {};
  if (!found->is_string())
    throw Error(Errc::argument, std::string("field \"") + name + "\" of a message must be a string");
  return found->get<std::string>();
}

std::string call_text(const Json& call) {
  const auto& function = call.contains("function") ? call["function"] : call;
  if (!function.is_object() || !function.contains("arguments")) {
    throw Error(Errc::argument, "field \"tool_calls\" of a message must hold objects with name and arguments");
  }
  const auto& arguments = function["arguments"];
  return "<tool_call>\n{\"name\": \"" + field(function, "name") +
         "\", \"arguments\": " + (arguments.is_string() ? arguments.get<std::string>() : spaced(arguments)) +
         "}\n</tool_call>";
}

std::string turn_text(const Json& message) {
  auto text = field(message, "content");
  const auto calls = message.find("tool_calls");
  if (calls == message.end() || !calls->is_array()) return text;
  for (const auto& call : *calls) text += (text.empty() ? "" : "\n") + call_text(call);
  return text;
}

std::string system_text(const std::string& given, const Json& tools) {
  auto text = given.empty() ? "" : given + "\n\n";
  text += "You can call these tools:";
  for (const auto& tool : tools) text += "\n" + spaced(tool);
  return text;
}

// Appends turns to a list of tokens.
class Writer {
 public:
  explicit Writer(const inlay::Model& model)
      : model_(model), start_(control(model, "<|im_start|>")), end_(control(model, "<|im_end|>")) {
    const auto around = model.tokenize("", {.specials = true});
    if (!around.empty() && around.front() == model.info().bos) tokens.push_back(around.front());
  }

  void open(const std::string& role, const std::string& text) {
    tokens.push_back(start_);
    append(role + "\n" + text);
  }
  void turn(const std::string& role, const std::string& text) {
    open(role, text);
    tokens.push_back(end_);
    append("\n");
  }

  std::vector<TokenId> tokens;

 private:
  void append(const std::string& text) {
    const auto ids = model_.tokenize(text);
    tokens.insert(tokens.end(), ids.begin(), ids.end());
  }

  const inlay::Model& model_;
  TokenId start_, end_;
};

}  // namespace

std::vector<TokenId> chatml(const inlay::Model& model, const Json& messages, const Json& tools) {
  if (!messages.is_array() || messages.empty())
    throw Error(Errc::argument, "field \"messages\" must be a list of messages");
  Writer writer(model);
  std::size_t first = 0;
  for (const auto& message : messages) {
    if (!message.is_object()) throw Error(Errc::argument, "field \"messages\" must hold objects");
  }
  if (tools.is_array() && !tools.empty()) {
    const bool given = field(messages[0], "role") == "system";
    writer.turn("system", system_text(given ? field(messages[0], "content") : "", tools));
    first = given ? 1 : 0;
  }
  for (std::size_t i = first; i < messages.size(); ++i) writer.turn(field(messages[i], "role"), turn_text(messages[i]));
  writer.open("assistant", "");
  return writer.tokens;
}

Json parse_answer(const std::string& answer) {
  constexpr std::string_view open = "<tool_call>", close = "</tool_call>";
  std::string content;
  Json calls = Json::array();
  std::size_t at = 0;
  for (auto begin = answer.find(open); begin != std::string::npos; begin = answer.find(open, at)) {
    const auto end = answer.find(close, begin);
    if (end == std::string::npos) break;
    const auto call = Json::parse(answer.substr(begin + open.size(), end - begin - open.size()), nullptr, false);
    if (!call.is_object() || !call.contains("name") || !call.contains("arguments")) break;
    content += answer.substr(at, begin - at);
    calls.push_back({{"name", call["name"]}, {"arguments", call["arguments"]}});
    at = end + close.size();
  }
  content += answer.substr(at);
  if (!calls.empty() && content.find_first_not_of(" \n") == std::string::npos) content.clear();
  return {{"content", content}, {"reasoning", ""}, {"tool_calls", calls}};
}

}  // namespace cli
