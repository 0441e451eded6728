// Calls whose arguments stand between tags, and those of Gemma and of Llama's built-in tools.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "text/chat_call_reader.hpp"

namespace inlay::text {
namespace {

using nlohmann::json;

constexpr std::string_view spaces = " \n\r\t";
constexpr int deepest_tools = 64;

std::string_view trimmed(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(spaces), text.size()));
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

// Without one line end on each side.
std::string_view without_line_ends(std::string_view text) {
  if (text.starts_with('\n')) text.remove_prefix(1);
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

// The name in what stands before the arguments: function<sep>T, T<sep>, T[CALL_ID]...[ARGS], functions.T:0<...>.
std::string_view called_name(std::string_view header) {
  for (const std::string_view prefix : {"function<｜tool▁sep｜>", "functions."}) {
    header = trimmed(header);
    if (header.starts_with(prefix)) header.remove_prefix(prefix.size());
  }
  header = header.substr(0, header.find_first_of("<[`\n "));
  const std::size_t colon = header.rfind(':');
  const bool is_counted = colon != header.npos && header.find_first_not_of("0123456789", colon + 1) == header.npos;
  return is_counted ? header.substr(0, colon) : header;
}

// Gemma's values: like JSON, but with unquoted keys and texts between <|"|> marks. Anything else is left as it is, and
// what is no JSON in the end is refused.
std::string gemma_json(std::string_view text) {
  static constexpr std::string_view quote = "<|\"|>";
  std::string out;
  while (!text.empty()) {
    if (text.starts_with(quote)) {
      const std::size_t end = std::min(text.find(quote, quote.size()), text.size());
      out += json_quoted(text.substr(quote.size(), end - quote.size()));
      text.remove_prefix(std::min(end + quote.size(), text.size()));
      continue;
    }
    const bool begins_key = !out.empty() && (out.back() == '{' || out.back() == ',');
    const std::size_t key_end = text.find_first_of(":,{}[]<\"");
    if (begins_key && key_end != text.npos && key_end > 0 && text[key_end] == ':') {
      out += json_quoted(trimmed(text.substr(0, key_end)));
      text.remove_prefix(key_end);
    } else {
      out += text[0];
      text.remove_prefix(1);
    }
  }
  return out;
}

// key="value", other=3 as a JSON object; empty where it is something else.
std::string python_arguments(std::string_view text) {
  std::string out = "{";
  while (!trimmed(text).empty()) {
    const std::size_t equals = text.find('=');
    if (equals == text.npos) return {};
    const std::string_view key = trimmed(text.substr(0, equals));
    text = trimmed(text.substr(equals + 1));
    std::size_t end = 0;
    std::string value;
    if (text.starts_with('"') || text.starts_with('\'')) {
      for (end = 1; end < text.size() && text[end] != text[0]; ++end) {
        if (text[end] == '\\' && end + 1 < text.size()) ++end;
        value += text[end];
      }
      value = json_quoted(value);
      end = std::min(end + 1, text.size());
    } else {
      JsonEnd json_end;
      end = json_end.feed(text);
      value = text.substr(0, end);
      value = value == "True" ? "true" : value == "False" ? "false" : value == "None" ? "null" : value;
    }
    out += (out.size() > 1 ? ", " : "") + json_quoted(key) + ": " + value;
    text = trimmed(text.substr(end));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return json::accept(out + "}") ? out + "}" : std::string{};
}

}  // namespace

const TagStyle function_tags = {"<function=", ">", "<parameter=", ">", "", "</parameter>", "</function>"};
const TagStyle key_value_tags = {"", "\n", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "</tool_call>"};
const TagStyle invoke_tags = {"<invoke name=\"", "\">", "<parameter name=\"", "\">", "", "</parameter>", "</invoke>"};

namespace {

// As a grammar of calls sees it: a text by its type, or one of some texts.
bool is_text(const json& schema) {
  if (!schema.is_object()) return false;
  if (schema.contains("type")) return schema["type"] == "string";
  const auto choices = schema.find("enum");
  return choices != schema.end() && choices->is_array() && !choices->empty() &&
         std::ranges::all_of(*choices, [](const json& choice) { return choice.is_string(); });
}

}  // namespace

StringParameters string_parameters(std::string_view tools) {
  StringParameters strings;
  const auto is_shallow = [](int depth, json::parse_event_t, json&) { return depth < deepest_tools; };
  const json list = tools.empty() ? json() : json::parse(tools, is_shallow, false);
  if (!list.is_array()) return strings;
  for (const json& tool : list) {
    const json& function = tool.is_object() && tool.contains("function") ? tool["function"] : tool;
    if (!function.is_object() || !function.contains("name") || !function["name"].is_string()) continue;
    const auto properties = json::json_pointer("/parameters/properties");
    auto& names = strings[function["name"].get<std::string>()];
    if (!function.contains(properties) || !function[properties].is_object()) continue;
    for (const auto& [name, schema] : function[properties].items()) {
      if (is_text(schema)) names.insert(name);
    }
  }
  return strings;
}

CallReader::Status TaggedCallReader::read(std::string& pending, bool at_end, OutputSink& sink) {
  while (status_ == Status::more && step(pending, sink)) {
  }
  if (status_ == Status::more && at_end) status_ = state_ == State::name ? Status::failed : Status::done;
  if (status_ == Status::done) sink.arguments(has_arguments_ ? "}" : "{}");
  return status_;
}

bool TaggedCallReader::read_name(std::string& pending, OutputSink& sink) {
  const std::size_t begin = pending.find_first_not_of(spaces);
  if (begin == pending.npos) return false;
  const std::string_view rest = std::string_view(pending).substr(begin);
  if (!rest.starts_with(style_.name_begin)) {
    if (!style_.name_begin.starts_with(rest)) status_ = Status::failed;
    return status_ == Status::failed;
  }
  const std::size_t name_begin = begin + style_.name_begin.size();
  std::size_t end = pending.find(style_.name_end, name_begin);
  std::size_t next = end == pending.npos ? end : end + style_.name_end.size();
  if (style_.name_begin.empty()) {
    next = end = std::min({end, pending.find(style_.key_begin), pending.find(style_.close)});
  }
  if (end == pending.npos) return false;
  name_ = trimmed(std::string_view(pending).substr(name_begin, end - name_begin));
  take(pending, next);
  if (name_.empty()) {
    status_ = Status::failed;
    return true;
  }
  sink.begin_call(name_);
  state_ = State::key;
  return true;
}

bool TaggedCallReader::step(std::string& pending, OutputSink& sink) {
  if (state_ == State::name) return read_name(pending, sink);
  if (state_ == State::key) {
    const std::size_t key = pending.find(style_.key_begin), close = pending.find(style_.close);
    if (close < key) {
      take(pending, close + style_.close.size());
      status_ = Status::done;
      return true;
    }
    const std::size_t begin = key + style_.key_begin.size();
    const std::size_t end = key == pending.npos ? key : pending.find(style_.key_end, begin);
    if (end == pending.npos) return false;
    key_ = trimmed(std::string_view(pending).substr(begin, end - begin));
    take(pending, end + style_.key_end.size());
    state_ = State::value;
    return true;
  }
  const std::size_t end = pending.find(style_.value_end);
  if (end == pending.npos) return false;
  std::string_view value = std::string_view(pending).substr(0, end);
  if (const std::size_t begin = value.find(style_.value_begin); begin != value.npos) {
    value.remove_prefix(begin + style_.value_begin.size());
  }
  sink.arguments((has_arguments_ ? ", " : "{") + json_quoted(key_) + ": " + json_of(without_line_ends(value)));
  has_arguments_ = true;
  take(pending, end + style_.value_end.size());
  state_ = State::key;
  return true;
}

std::string TaggedCallReader::json_of(std::string_view value) const {
  const auto tool = strings_.find(name_);
  const bool is_string = tool != strings_.end() && tool->second.contains(key_);
  const std::string_view plain = trimmed(value);
  return !is_string && json::accept(plain) ? std::string(plain) : json_quoted(value);
}

CallReader::Status GemmaCallReader::read(std::string& pending, bool at_end, OutputSink& sink) {
  static constexpr std::string_view close = "<tool_call|>";
  const std::size_t end = pending.find(close);
  if (end == pending.npos && !at_end) return Status::more;
  const std::string body = take(pending, end == pending.npos ? pending.size() : end + close.size());
  std::string_view call = trimmed(std::string_view(body).substr(0, end));
  if (!call.starts_with("call:")) return Status::failed;
  call.remove_prefix(5);
  const std::size_t brace = std::min(call.find('{'), call.size());
  const std::string arguments = brace == call.size() ? "{}" : gemma_json(call.substr(brace));
  if (brace == 0 || !json::accept(arguments)) return Status::failed;
  sink.begin_call(trimmed(call.substr(0, brace)));
  sink.arguments(arguments);
  return Status::done;
}

CallReader::Status PythonCallReader::read(std::string& pending, bool at_end, OutputSink& sink) {
  if (!at_end) return Status::more;
  const std::string body = take(pending, pending.size());
  const std::string_view code = trimmed(body);
  if (code.empty()) return Status::failed;
  const std::size_t call = code.find(".call(");
  std::string arguments;
  if (call != code.npos && call > 0 && code.ends_with(')')) {
    arguments = python_arguments(code.substr(call + 6, code.size() - call - 7));
  }
  sink.begin_call(arguments.empty() ? "python" : code.substr(0, call));
  sink.arguments(arguments.empty() ? "{\"code\": " + json_quoted(code) + "}" : arguments);
  return Status::done;
}

CallReader::Status NamedCallReader::read(std::string& pending, bool at_end, OutputSink& sink) {
  if (!in_arguments_) {
    const std::size_t brace = pending.find('{');
    if (brace == pending.npos) return at_end ? Status::failed : Status::more;
    const std::string_view name = called_name(std::string_view(pending).substr(0, brace));
    if (name.empty()) return Status::failed;
    sink.begin_call(name);
    take(pending, brace);
    in_arguments_ = true;
  }
  sink.arguments(take(pending, value_.feed(pending)));
  return value_.is_done() || at_end ? Status::done : Status::more;
}

}  // namespace inlay::text
