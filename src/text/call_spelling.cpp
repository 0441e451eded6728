// One function for each family, in the words of its template.
#include "text/call_spelling.hpp"

namespace inlay::text {
namespace {

using Arguments = CallSpelling::Arguments;

bool has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

CallSpelling json_object(std::string_view arguments_key) {
  CallSpelling spelling;
  spelling.before_name = "{\n\"name\"\n:\n";
  spelling.after_name = {"\n,\n\"" + std::string(arguments_key) + "\"\n:\n"};
  spelling.close = {"\n}"};
  spelling.quotes_name = true;
  spelling.many = false;
  return spelling;
}

CallSpelling unmarked(std::string_view source) {
  CallSpelling spelling = json_object(has(source, "\"parameters\"") ? "parameters" : "arguments");
  if (has(source, "tool_name")) spelling.before_name = "{\n\"tool_name\"\n:\n";
  return spelling;
}

// <tool_call>, with JSON inside, or <function=...>, or the bare name and <arg_key>.
CallSpelling tool_call_tag(std::string_view source) {
  CallSpelling spelling;
  const std::string tag = has(source, "seed:tool_call") ? "seed:tool_call>" : "tool_call>";
  if (has(source, "<function=")) {
    spelling.before_name = "\n<function=", spelling.after_name = {">\n"};
    spelling.key_begin = "<parameter=", spelling.key_end = ">", spelling.value_end = "</parameter>\n";
    spelling.close = {"</function>\n"};
    spelling.arguments = Arguments::tags;
  } else if (has(source, "<arg_key>")) {
    spelling.after_name = {"\n"};
    spelling.close = {""};
    spelling.key_begin = "<arg_key>", spelling.key_end = "</arg_key>\n<arg_value>";
    spelling.value_end = "</arg_value>\n";
    spelling.arguments = Arguments::tags;
  } else {
    spelling = json_object("arguments");
    spelling.before_name = "\n" + spelling.before_name;
    spelling.many = true;
    spelling.close = {"\n}\n"};
  }
  spelling.opener = "<" + tag;
  spelling.close[0] += "</" + tag;
  spelling.between = "\n";
  return spelling;
}

CallSpelling invoke_tag() {
  return {.before_all = "<minimax:tool_call>\n",
          .opener = "<invoke name=\"",
          .before_name = "",
          .after_name = {"\">\n"},
          .arguments = Arguments::tags,
          .key_begin = "<parameter name=\"",
          .key_end = "\">",
          .value_end = "</parameter>\n",
          .close = {"</invoke>"},
          .between = "\n",
          .after_all = "\n</minimax:tool_call>"};
}

CallSpelling mistral(std::string_view source) {
  CallSpelling spelling;
  if (has(source, "[ARGS]")) {
    spelling.after_name = {has(source, "[CALL_ID]") ? "[CALL_ID]#[ARGS]" : "[ARGS]"};
    spelling.close = {""};
  } else {
    spelling = json_object("arguments");
    spelling.close.push_back("\n,\n\"id\"\n:\n\"#\"\n}");
    spelling.in_list = true;
  }
  spelling.opener = "[TOOL_CALLS]";
  return spelling;
}

CallSpelling deepseek(std::string_view source) {
  CallSpelling spelling = {.before_all = "<｜tool▁calls▁begin｜>",
                           .opener = "<｜tool▁call▁begin｜>",
                           .before_name = "",
                           .after_name = {"<｜tool▁sep｜>"},
                           .close = {"<｜tool▁call▁end｜>"},
                           .between = "\n",
                           .after_all = "<｜tool▁calls▁end｜>"};
  if (has(source, "```json")) {
    spelling.before_name = "function<｜tool▁sep｜>";
    spelling.after_name = {"\n```json\n"};
    spelling.close = {"\n```<｜tool▁call▁end｜>"};
  }
  return spelling;
}

}  // namespace

CallSpelling call_spelling(const OutputFormat& format, std::string_view source) {
  using Calls = OutputFormat::Calls;
  switch (format.calls) {
    case Calls::none: return {};
    case Calls::tool_call_tag: return tool_call_tag(source);
    case Calls::invoke_tag: return invoke_tag();
    case Calls::llama: return json_object("parameters");
    case Calls::mistral: return mistral(source);
    case Calls::deepseek: return deepseek(source);
    case Calls::kimi:
      return {.before_all = "<|tool_calls_section_begin|>",
              .opener = "<|tool_call_begin|>",
              .before_name = "functions.",
              .after_name = {":#<|tool_call_argument_begin|>"},
              .close = {"<|tool_call_end|>"},
              .between = "",
              .after_all = "<|tool_calls_section_end|>"};
    case Calls::harmony:
      return {.before_all = "<|channel|>commentary",
              .opener = " to=functions.",
              .before_name = "",
              .after_name = {"\n<|constrain|>json<|message|>", "\njson<|message|>", "\n<|message|>",
                             "<|channel|>commentary\n<|constrain|>json<|message|>",
                             "<|channel|>commentary\njson<|message|>"},
              .close = {""},
              .many = false};
    case Calls::gemma:
      return {.opener = "<|tool_call>",
              .before_name = "call:",
              .after_name = {""},
              .arguments = Arguments::gemma,
              .close = {"<tool_call|>"}};
    case Calls::json: return unmarked(source);
  }
  return {};
}

}  // namespace inlay::text
