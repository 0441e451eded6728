// Proves that answers, reasoning and tool calls are told apart, wherever the text happens to be cut while it streams.
#include "text/chat_output.hpp"

#include "tests/support/catch.hpp"

namespace {

using namespace inlay::text;
using Calls = OutputFormat::Calls;

struct Case {
  std::string name;
  OutputFormat format;
  std::string text;
  OutputMessage expected;
  bool starts_in_reasoning = false;
};

const OutputFormat hermes = {Calls::tool_call_tag, "<think>", "</think>"};
const OutputFormat llama = {Calls::llama, "", ""};
const OutputFormat mistral = {Calls::mistral, "[THINK]", "[/THINK]"};
const OutputFormat deepseek = {Calls::deepseek, "<think>", "</think>"};
const OutputFormat harmony = {Calls::harmony, "", ""};
const OutputFormat gemma = {Calls::gemma, "<|channel>thought", "<channel|>"};
const OutputFormat json = {Calls::json, "<think>", "</think>"};
const OutputFormat invoke = {Calls::invoke_tag, "<think>", "</think>"};
const OutputFormat kimi = {Calls::kimi, "<think>", "</think>"};

const std::string tools = R"([{"type": "function", "function": {"name": "find", "parameters": {"type": "object",
    "properties": {"word": {"type": "string"}, "count": {"type": "integer"}}}}}])";

OutputMessage parsed(const Case& each, const std::vector<std::string>& pieces) {
  ChatOutput output(each.format, each.starts_in_reasoning, tools);
  OutputMessage rebuilt;
  const auto apply = [&](const std::vector<OutputDelta>& deltas) {
    for (const auto& delta : deltas) {
      switch (delta.kind) {
        case OutputDelta::Kind::content: rebuilt.content += delta.text; break;
        case OutputDelta::Kind::reasoning: rebuilt.reasoning += delta.text; break;
        case OutputDelta::Kind::tool_name: rebuilt.tool_calls.push_back({delta.text, ""}); break;
        case OutputDelta::Kind::tool_arguments: rebuilt.tool_calls.back().arguments += delta.text; break;
        case OutputDelta::Kind::content_is_reasoning: std::swap(rebuilt.content, rebuilt.reasoning); break;
      }
    }
  };
  for (const auto& piece : pieces) apply(output.push(piece));
  apply(output.finish());
  CHECK(rebuilt == output.message());
  return output.message();
}

void check(const std::vector<Case>& cases) {
  for (const auto& each : cases) {
    CAPTURE(each.name, each.text);
    std::vector<std::string> bytes;
    for (const char byte : each.text) bytes.emplace_back(1, byte);
    CHECK(parsed(each, bytes) == each.expected);
    for (std::size_t cut = 0; cut <= each.text.size(); ++cut) {
      CAPTURE(cut);
      CHECK(parsed(each, {each.text.substr(0, cut), each.text.substr(cut)}) == each.expected);
    }
  }
}

}  // namespace

namespace Catch {
template <>
struct StringMaker<OutputMessage> {
  static std::string convert(const OutputMessage& message) {
    std::string text = "content[" + message.content + "] reasoning[" + message.reasoning + "]";
    for (const auto& call : message.tool_calls) text += " " + call.name + "(" + call.arguments + ")";
    return text;
  }
};
}  // namespace Catch

TEST_CASE("plain answers come through as they are") {
  check({{"text", {}, "  Hello <b>you</b> & {\"a\": 1}\n\n", {"  Hello <b>you</b> & {\"a\": 1}\n\n", "", {}}},
         {"empty", hermes, "", {}},
         {"nearly a mark", hermes, "a <tool_cal> b <thin", {"a <tool_cal> b <thin", "", {}}},
         {"json answer", llama, R"({"city": "Paris", "name": 3})", {R"({"city": "Paris", "name": 3})", "", {}}},
         {"json with a name", llama, R"({"name": "Bob", "age": 5})", {R"({"name": "Bob", "age": 5})", "", {}}},
         {"list answer", json, "[1, 2]", {"[1, 2]", "", {}}},
         {"unfinished json", json, R"({"name": "f")", {R"({"name": "f")", "", {}}}});
}

TEST_CASE("reasoning is told from the answer") {
  check({{"block", hermes, "<think>\nLet me see.\n</think>\n\nYes.", {"Yes.", "Let me see.", {}}},
         {"opened by the prompt", hermes, "Let me see.\n</think>\n\nYes.", {"Yes.", "Let me see.", {}}, true},
         {"empty block", hermes, "<think>\n\n</think>\n\nYes.", {"Yes.", "", {}}},
         {"end without a beginning", hermes, "Hmm, so.\n</think>\nYes.", {"Yes.", "Hmm, so.", {}}},
         {"never ends", hermes, "<think>and so on ", {"", "and so on", {}}},
         {"brackets", mistral, "[THINK]Why?[/THINK]Because.", {"Because.", "Why?", {}}},
         {"ended by a call",
          hermes,
          "<think>I call.\n<tool_call>\n{\"name\": \"f\", \"arguments\": {}}\n</tool_call>",
          {"", "I call.", {{"f", "{}"}}}},
         {"then unmarked json",
          json,
          "<think>x</think>\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}",
          {"", "x", {{"f", R"({"a": 1})"}}}},
         {"channel", gemma, "<|channel>thought\nWell.\n<channel|>Good.", {"Good.", "Well.", {}}}});
}

TEST_CASE("calls in <tool_call> tags") {
  check({{"one",
          hermes,
          "<tool_call>\n{\"name\": \"find\", \"arguments\": {\"word\": \"a}\\\"b\", \"n\": [1, {}]}}\n</tool_call>",
          {"", "", {{"find", R"({"word": "a}\"b", "n": [1, {}]})"}}}},
         {"text before, two calls",
          hermes,
          "I "
          "look.\n<tool_call>{\"name\":\"f\",\"arguments\":{}}</"
          "tool_call>\n<tool_call>{\"name\":\"g\",\"arguments\":{\"x\":2}}</tool_call>",
          {"I look.", "", {{"f", "{}"}, {"g", R"({"x":2})"}}}},
         {"arguments first",
          hermes,
          R"(<tool_call>{"arguments": {"x": 1}, "name": "f"}</tool_call>)",
          {"", "", {{"f", R"({"x": 1})"}}}},
         {"arguments in a string",
          hermes,
          R"(<tool_call>{"name": "f", "arguments": "{\"x\": 1}"}</tool_call>)",
          {"", "", {{"f", R"({"x": 1})"}}}},
         {"no arguments", hermes, R"(<tool_call>{"name": "f"}</tool_call>)", {"", "", {{"f", "{}"}}}},
         {"broken", hermes, "<tool_call>{\"name\": f}</tool_call>", {"<tool_call>{\"name\": f}", "", {}}},
         {"tags",
          hermes,
          "<tool_call>\n<function=find>\n<parameter=word>\n42\n</parameter>\n<parameter=count>\n3\n</parameter>\n"
          "<parameter=other>\nfree text\n</parameter>\n</function>\n</tool_call>",
          {"", "", {{"find", R"({"word": "42", "count": 3, "other": "free text"})"}}}},
         {"tags without parameters",
          hermes,
          "<tool_call>\n<function=now>\n</function>\n</tool_call>\nDone.",
          {"Done.", "", {{"now", "{}"}}}},
         {"keys and values",
          hermes,
          "<tool_call>find\n<arg_key>word</arg_key>\n<arg_value>7</arg_value>\n<arg_key>count</arg_key>\n<arg_value>7</"
          "arg_value>\n</tool_call>",
          {"", "", {{"find", R"({"word": "7", "count": 7})"}}}},
         {"keys and values on one line",
          hermes,
          "<tool_call>f<arg_key>a</arg_key><arg_value>[1]</arg_value></tool_call>",
          {"", "", {{"f", R"({"a": [1]})"}}}}});
}

TEST_CASE("calls of Llama 3 and plain JSON") {
  check(
      {{"json", llama, R"({"name": "f", "parameters": {"a": "b"}})", {"", "", {{"f", R"({"a": "b"})"}}}},
       {"after the mark",
        llama,
        R"(<|python_tag|>{"name": "f", "parameters": {"a": 1}})",
        {"", "", {{"f", R"({"a": 1})"}}}},
       {"two",
        llama,
        R"({"name": "f", "parameters": {}}; {"name": "g", "parameters": {}})",
        {"", "", {{"f", "{}"}, {"g", "{}"}}}},
       {"with a type",
        llama,
        R"({"type": "function", "name": "f", "parameters": {"a": 1}})",
        {"", "", {{"f", R"({"a": 1})"}}}},
       {"built-in",
        llama,
        R"(<|python_tag|>search.call(query="a, \"b\"", n=3))",
        {"", "", {{"search", R"({"query": "a, \"b\"", "n": 3})"}}}},
       {"code", llama, "<|python_tag|>print(1)\n", {"", "", {{"python", R"code({"code": "print(1)"})code"}}}},
       {"nested",
        json,
        R"({"type": "function", "function": {"name": "f", "arguments": {"a": 1}}})",
        {"", "", {{"f", R"({"a": 1})"}}}},
       {"list",
        json,
        R"([{"name": "f", "arguments": {"a": 1}}, {"name": "g", "arguments": {}}])",
        {"", "", {{"f", R"({"a": 1})"}, {"g", "{}"}}}},
       {"fence", json, "```json\n{\"name\": \"f\", \"arguments\": {\"a\": 1}}\n```", {"", "", {{"f", R"({"a": 1})"}}}},
       {"other fence", json, "```python\nx = 1\n```", {"```python\nx = 1\n```", "", {}}}});
}

TEST_CASE("calls of Mistral, DeepSeek, Kimi, MiniMax and Gemma") {
  check({{"list",
          mistral,
          R"([TOOL_CALLS][{"name": "f", "arguments": {"a": 1}, "id": "123456789"}, {"name": "g", "arguments": {}}])",
          {"", "", {{"f", R"({"a": 1})"}, {"g", "{}"}}}},
         {"named",
          mistral,
          R"(Well.[TOOL_CALLS]f[ARGS]{"a": "]"}[TOOL_CALLS]g[CALL_ID]abc[ARGS]{})",
          {"Well.", "", {{"f", R"({"a": "]"})"}, {"g", "{}"}}}},
         {"r1",
          deepseek,
          "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>f\n```json\n{\"a\": "
          "1}\n```<｜tool▁call▁end｜>\n"
          "<｜tool▁call▁begin｜>function<｜tool▁sep｜>g\n```json\n{}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
          {"", "", {{"f", R"({"a": 1})"}, {"g", "{}"}}}},
         {"v3.1",
          deepseek,
          "Look:<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>f<｜tool▁sep｜>{\"a\": {\"b\": "
          "2}}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
          {"Look:", "", {{"f", R"({"a": {"b": 2}})"}}}},
         {"kimi",
          kimi,
          "<|tool_calls_section_begin|><|tool_call_begin|>functions.f:0<|tool_call_argument_begin|>{\"a\": "
          "1}<|tool_call_end|><|tool_calls_section_end|>",
          {"", "", {{"f", R"({"a": 1})"}}}},
         {"minimax",
          invoke,
          "<minimax:tool_call>\n<invoke name=\"find\">\n<parameter name=\"word\">1</parameter>\n<parameter "
          "name=\"count\">1</parameter>\n</invoke>\n"
          "<invoke name=\"g\">\n</invoke>\n</minimax:tool_call>",
          {"", "", {{"find", R"({"word": "1", "count": 1})"}, {"g", "{}"}}}},
         {"gemma",
          gemma,
          "Sure.<|tool_call>call:f{a:<|\"|>x, \"y\"<|\"|>,n:3,l:[true,{k:null}]}<tool_call|>",
          {"Sure.", "", {{"f", R"({"a":"x, \"y\"","n":3,"l":[true,{"k":null}]})"}}}},
         {"gemma, broken", gemma, "<|tool_call>call:f{a<tool_call|>", {"<|tool_call>call:f{a<tool_call|>", "", {}}}});
}

TEST_CASE("channels of gpt-oss") {
  check({{"answer",
          harmony,
          "<|channel|>analysis<|message|>Think.<|end|><|start|>assistant<|channel|>final<|message|>Hi.<|return|>",
          {"Hi.", "Think.", {}}},
         {"call",
          harmony,
          "<|channel|>analysis<|message|>Need it.<|end|><|start|>assistant<|channel|>commentary to=functions.f "
          "<|constrain|>json<|message|>{\"a\": 1}<|call|>",
          {"", "Need it.", {{"f", R"({"a": 1})"}}}},
         {"recipient first",
          harmony,
          " to=functions.f<|channel|>commentary<|constrain|>json<|message|>{}<|call|>",
          {"", "", {{"f", "{}"}}}},
         {"preamble",
          harmony,
          "<|channel|>commentary<|message|>I look.<|end|><|start|>assistant<|channel|>commentary "
          "to=functions.f<|message|>{}",
          {"I look.", "", {{"f", "{}"}}}},
         {"opened by the prompt",
          harmony,
          "Think.<|end|><|start|>assistant<|channel|>final<|message|>Hi.",
          {"Hi.", "Think.", {}},
          true},
         {"plain", harmony, "Just text.", {"Just text.", "", {}}}});
}

TEST_CASE("the family is told from the template") {
  const auto family = [](const std::string& source) { return OutputFormat::of_template(source).calls; };
  CHECK(family("{{ messages }}") == Calls::none);
  CHECK(family("{{ tools }}") == Calls::json);
  CHECK(family("<tool_call>{{ tools }}") == Calls::tool_call_tag);
  CHECK(family("[TOOL_CALLS]") == Calls::mistral);
  CHECK(family("<|python_tag|>") == Calls::llama);
  CHECK(family("<｜tool▁call▁begin｜>") == Calls::deepseek);
  CHECK(family("<|start|><|channel|><|message|>") == Calls::harmony);
  CHECK(family("<|tool_call>") == Calls::gemma);
  const auto thinks = OutputFormat::of_template("{{ content.split('</think>')[-1] }}");
  CHECK(thinks.reasoning_begin == "<think>");
  CHECK(thinks.opens_reasoning("<|im_start|>assistant\n<think>\n"));
  CHECK_FALSE(thinks.opens_reasoning("<think>\n\n</think>\n\n"));
  CHECK(OutputFormat::of_template("plain").reasoning_begin.empty());
}
