// Proves: the calls of every family, in its own spelling, are held to names that exist and to arguments that are valid.
#include <array>

#include "tests/support/catch.hpp"
#include "tests/text/grammar_support.hpp"
#include "text/call_grammar.hpp"
#include "text/grammar_rules.hpp"
#include "text/mark_search.hpp"

namespace {

using inlay::text::CallGrammars;
using inlay::text::ChatOutput;
using inlay::text::MessageRules;
using inlay::text::OutputFormat;
using Calls = MessageRules::Calls;
using support::accepts;

const std::string tools = R"([{"type":"function","function":{"name":"paint","parameters":{"type":"object","properties":{
  "colour":{"type":"string","enum":["red","blue"]},"coats":{"type":"integer","minimum":1,"maximum":3},
  "note":{"type":"string"}},"required":["colour","coats"],"additionalProperties":false}}},
  {"type":"function","function":{"name":"stop","parameters":{"type":"object","properties":{},"additionalProperties":false}}}])";

// A family by a template that has its marks, and texts in which NAME, RED, 2 and NOTE are replaced.
struct Family {
  std::string source, call;
};

const Family families[] = {
    {"<tool_call>",
     "<tool_call>\n{\"name\": \"paint\", \"arguments\": {\"colour\": \"red\", \"coats\": 2}}\n</tool_call>"},
    {"<tool_call><function=>",
     "<tool_call>\n<function=paint>\n<parameter=colour>\nred\n</parameter>\n<parameter=coats>\n2\n</parameter>\n</"
     "function>\n</tool_call>"},
    {"<tool_call><arg_key>",
     "<tool_call>paint\n<arg_key>colour</arg_key>\n<arg_value>red</arg_value>\n<arg_key>coats</arg_key>\n<arg_value>2</"
     "arg_value>\n</tool_call>"},
    {"<tool_call><arg_key>",
     "<tool_call>paint<arg_key>colour</arg_key><arg_value>red</arg_value><arg_key>coats</arg_key><arg_value>2</"
     "arg_value></tool_call>"},
    {"<invoke name=",
     "<minimax:tool_call>\n<invoke name=\"paint\">\n<parameter name=\"colour\">red</parameter>\n<parameter "
     "name=\"coats\">2</parameter>\n</invoke>\n</minimax:tool_call>"},
    {"<|python_tag|>", "{\"name\": \"paint\", \"parameters\": {\"colour\": \"red\", \"coats\": 2}}"},
    {"[TOOL_CALLS]",
     "[TOOL_CALLS][{\"name\": \"paint\", \"arguments\": {\"colour\": \"red\", \"coats\": 2}, \"id\": \"abc123def\"}]"},
    {"[TOOL_CALLS][ARGS]", "[TOOL_CALLS]paint[ARGS]{\"colour\": \"red\", \"coats\": 2}"},
    {"[TOOL_CALLS][CALL_ID][ARGS]", "[TOOL_CALLS]paint[CALL_ID]abcdefghi[ARGS]{\"colour\": \"red\", \"coats\": 2}"},
    {"<｜tool▁call▁begin｜>```json",
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>paint\n```json\n{\"colour\": \"red\", "
     "\"coats\": "
     "2}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
    {"<｜tool▁call▁begin｜>",
     "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>paint<｜tool▁sep｜>{\"colour\": \"red\", \"coats\": "
     "2}<｜tool▁call▁end｜><｜tool▁calls▁end｜>"},
    {"<|tool_calls_section_begin|>",
     "<|tool_calls_section_begin|><|tool_call_begin|>functions.paint:0<|tool_call_argument_begin|>{\"colour\": "
     "\"red\", "
     "\"coats\": 2}<|tool_call_end|><|tool_calls_section_end|>"},
    {"<|channel|><|message|>",
     "<|channel|>commentary to=functions.paint <|constrain|>json<|message|>{\"colour\": \"red\", \"coats\": 2}"},
    {"<|tool_call>", "<|tool_call>call:paint{coats:2,colour:<|\"|>red<|\"|>}<tool_call|>"},
    {"{{ tools }}", "{\"name\": \"paint\", \"arguments\": {\"colour\": \"red\", \"coats\": 2}}"}};

std::string with(std::string text, const std::string& from, const std::string& to) {
  text.replace(text.find(from), from.size(), to);
  return text;
}

}  // namespace

TEST_CASE("a call is spelled as its family does, and only with what its tool allows") {
  for (const auto& [source, call] : families) {
    CAPTURE(source, call);
    const auto format = OutputFormat::of_template(source);
    const CallGrammars grammars(format, source, tools);
    const auto required = grammars.message({.calls = Calls::only}, {});
    const auto free = grammars.message({.calls = Calls::some}, {});
    const auto none = grammars.message({.calls = Calls::none}, {});
    for (const auto& grammar : {required, free}) {
      CHECK(accepts(grammar, call));
      CHECK_FALSE(accepts(grammar, with(call, "red", "green")));
      CHECK_FALSE(accepts(grammar, with(call, "2", "7")));
      CHECK_FALSE(accepts(grammar, call.substr(0, call.find("red") + 1)));
    }
    CHECK_FALSE(accepts(required, with(call, "paint", "drill")));
    CHECK_FALSE(accepts(required, "I would rather not."));
    CHECK(accepts(free, "I would rather not: 3 < 4, {\"name\": \"Ann\"}."));
    CHECK(accepts(none, "I would rather not."));
    CHECK_FALSE(accepts(none, call));

    ChatOutput output(format, false, tools);
    output.push(call);
    output.finish();
    REQUIRE(output.message().tool_calls.size() == 1);
    CHECK(output.message().tool_calls[0].name == "paint");
    CHECK(nlohmann::json::parse(output.message().tool_calls[0].arguments) ==
          nlohmann::json({{"colour", "red"}, {"coats", 2}}));
  }
}

TEST_CASE("lists in the notation of Gemma have as many elements as their schemas ask for") {
  const std::string sized = R"([{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{
    "a":{"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":3},
    "b":{"type":"array","items":{"type":"array","minItems":1},"maxItems":1}},"required":["a"]}}}])";
  const std::string source = "<|tool_call>";
  const CallGrammars grammars(OutputFormat::of_template(source), source, sized);
  const auto grammar = grammars.message({.calls = Calls::only}, {});
  const auto call = [](const std::string& arguments) { return "<|tool_call>call:f{" + arguments + "}<tool_call|>"; };
  for (const char* right : {"a:[1,2]", "a:[1,2,3]", "a:[1,2],b:[]", "a:[1,2],b:[[true]]", "a:[1,2],b:[[1,[]]]"})
    CHECK(accepts(grammar, call(right)));
  for (const char* wrong : {"a:[]", "a:[1]", "a:[1,2,3,4]", "a:[1,2],b:[[]]", "a:[1,2],b:[[1],[1]]"})
    CHECK_FALSE(accepts(grammar, call(wrong)));
}

TEST_CASE("texts that stand without quotes are held to their schemas, too") {
  const std::string limited = R"([{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{
    "a":{"type":"string","pattern":"^[a-z]+$","maxLength":3},"b":{"type":"string","format":"date"},
    "c":{"type":"string","minLength":2,"maxLength":900},"d":{"enum":["1","x\ny"]},
    "e":{"anyOf":[{"type":"null"},{"type":"string","maxLength":4}]}}}}}])";
  const auto one = [](const std::string& name, const std::string& value) { return std::pair(name, value); };
  const std::pair<std::string, std::string> right[] = {one("a", "abc"),
                                                       one("a", "x"),
                                                       one("b", "2024-02-29"),
                                                       one("c", "a > b\n\"c\""),
                                                       one("c", std::string(900, 'x')),
                                                       one("d", "1"),
                                                       one("d", "x\ny")};
  const std::pair<std::string, std::string> wrong[] = {one("a", "abcd"), one("a", "A"),
                                                       one("a", ""),     one("b", "2024-02-30"),
                                                       one("c", "a"),    one("c", std::string(901, 'x')),
                                                       one("d", "2")};
  struct Form {
    std::string source, before, key, value, after;
  };
  const Form forms[] = {
      {"<tool_call><function=>", "<tool_call>\n<function=f>\n<parameter=", ">\n", "\n</parameter>\n",
       "</function>\n</tool_call>"},
      {"<tool_call><arg_key>", "<tool_call>f\n<arg_key>", "</arg_key>\n<arg_value>", "</arg_value>\n", "</tool_call>"},
      {"<|tool_call>", "<|tool_call>call:f{", ":<|\"|>", "<|\"|>", "}<tool_call|>"}};
  for (const Form& form : forms) {
    const auto format = OutputFormat::of_template(form.source);
    const CallGrammars grammars(format, form.source, limited);
    const auto grammar = grammars.message({.calls = Calls::only}, {});
    const auto call = [&](const std::pair<std::string, std::string>& argument) {
      return form.before + argument.first + form.key + argument.second + form.value + form.after;
    };
    for (const auto& argument : right) {
      CAPTURE(call(argument));
      CHECK(accepts(grammar, call(argument)));
      ChatOutput output(format, false, limited);
      output.push(call(argument));
      output.finish();
      REQUIRE(output.message().tool_calls.size() == 1);
      CHECK(nlohmann::json::parse(output.message().tool_calls[0].arguments) ==
            nlohmann::json({{argument.first, argument.second}}));
    }
    for (const auto& argument : wrong) {
      CAPTURE(call(argument));
      CHECK_FALSE(accepts(grammar, call(argument)));
    }
    if (form.source == "<|tool_call>") continue;  // its values tell texts from others by marks
    for (const std::string text : {"null", "abc", "\"12\"", ""}) CHECK(accepts(grammar, call({"e", text})));
    for (const std::string text : {"true", "abcde", "12", "[]"}) CHECK_FALSE(accepts(grammar, call({"e", text})));
  }
}

TEST_CASE("a message may reason first, then answer or call") {
  const std::string source = "<tool_call><think></think>";
  const auto format = OutputFormat::of_template(source);
  const CallGrammars grammars(format, source, tools);
  const auto number = inlay::Grammar::regex("[0-9]+");
  const std::string call = families[0].call;
  const auto either = grammars.message({.calls = Calls::some, .may_reason = true}, number);
  CHECK(accepts(either, "12"));
  CHECK(accepts(either, "<think>\nHm, <b>.</think>\n\n12"));
  CHECK(accepts(either, "<think></think>" + call));
  CHECK(accepts(either, call + "\n" + call));
  CHECK_FALSE(accepts(either, "twelve"));
  CHECK_FALSE(accepts(either, "<think>12"));
  const auto within = grammars.message({.calls = Calls::none, .within_reasoning = true}, number);
  CHECK(accepts(within, "Hm.</think>12"));
  CHECK_FALSE(accepts(within, "12"));
  CHECK_FALSE(accepts(within, "Hm.</think>" + call));
}

TEST_CASE("marks are found where they end first, however they overlap") {
  const std::vector<std::string> marks{"aab", "ab", "bc", "aaaa"};
  inlay::text::Automaton out;
  const auto root = out.add_rule("text");
  const auto search = inlay::text::MarkSearch(marks).write(out);
  out.add_empty(out.rule(root).entry, search.begin);
  for (const auto node : search.without) out.add_empty(node, out.rule(root).exit);
  out.finish(root);
  const auto grammar = inlay::GrammarRules::make(std::move(out));
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    std::string text;
    for (auto length = random() % 9; text.size() < length;) text += "abc"[random() % 3];
    CAPTURE(text);
    bool found = false;
    for (const auto& mark : marks) found = found || text.find(mark) != std::string::npos;
    CHECK(accepts(grammar, text) != found);
  }
}

TEST_CASE("tools that are none are refused, and the tool is named") {
  const auto format = OutputFormat::of_template("<tool_call>");
  const auto refuses = [&](const std::string& given, const std::string& only = "") {
    try {
      CallGrammars(format, "<tool_call>", given, only);
      return std::string();
    } catch (const inlay::Error& error) {
      CHECK(error.code() == inlay::Errc::argument);
      return std::string(error.what());
    }
  };
  CHECK_FALSE(refuses("{}").empty());
  CHECK_FALSE(refuses("[{}]").empty());
  CHECK_FALSE(refuses(std::string(100, '[')).empty());
  CHECK(refuses(tools, "drill").find("drill") != std::string::npos);
  CHECK(refuses(R"([{"name":"f","parameters":{"type":"obj"}}])").find("'f'") != std::string::npos);
  CHECK(refuses(tools, "paint").empty());
}
