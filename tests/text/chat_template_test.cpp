// Proves that templates render byte for byte as transformers renders them, errors included.
#include "text/chat_template.hpp"

#include <nlohmann/json.hpp>
#include <sstream>

#include "inlay/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/chat_support.hpp"

namespace {

using nlohmann::ordered_json;
using namespace inlay;

std::vector<ordered_json> lines_of(const std::filesystem::path& path) {
  std::istringstream text(support::read(path));
  std::vector<ordered_json> rows;
  for (std::string line; std::getline(text, line);) rows.push_back(ordered_json::parse(line));
  return rows;
}

// Empty where the case comes out as expected, else what went wrong.
template <class Compile>
std::string fault_of(const ordered_json& row, const Compile& compile) {
  const bool is_raised =
      row.contains("raised") || row.value("/expected_error/kind"_json_pointer, "") == "raise_exception";
  try {
    const text::ChatTemplate& compiled = compile();
    const auto rendered = compiled.render(chat::Input(row).view());
    if (!row.contains("expected")) return "rendered, although an error is expected";
    if (!chat::spans_cover(rendered)) return "the spans do not cover the text";
    return rendered.text == row["expected"].get<std::string>() ? "" : "rendered: " + rendered.text;
  } catch (const Error& error) {
    if (row.contains("expected")) return error.what();
    if (is_raised != (error.code() == Errc::argument && error.fault() == Fault::none)) return error.what();
    if (!is_raised) return "";
    const std::string message = row.contains("raised") ? row["raised"] : row["expected_error"]["message"];
    return message == error.what() ? "" : error.what();
  }
}

}  // namespace

TEST_CASE("conversations render exactly as with transformers") {
  for (const auto& folder : support::folders("chat")) {
    for (const auto& row : lines_of(folder / "cases.jsonl")) {
      CAPTURE(row["id"]);
      const auto path = folder / "templates" / row["template"].get<std::string>();
      CHECK(fault_of(row, [&]() -> const text::ChatTemplate& { return chat::compiled(path); }) == "");
      support::count("chat", 1);
    }
  }
}

TEST_CASE("each construct of the language means what it means in Jinja2") {
  const auto rows = lines_of(support::data() / "chat" / "constructs.jsonl");
  for (auto row : std::vector(rows.begin() + 1, rows.end())) {
    CAPTURE(row["template"]);
    auto variables = rows[0]["variables"];
    row["messages"] = variables["messages"];
    variables.erase("messages");
    row["vars"] = variables;
    row["now"] = rows[0]["now"];
    CHECK(fault_of(row, [&] { return text::ChatTemplate(row["template"].get<std::string>()); }) == "");
    support::count("chat", 1);
  }
}

TEST_CASE("an error says where it happened") {
  const auto where = [](const std::string& source) {
    try {
      text::ChatTemplate(source).render({});
    } catch (const Error& error) {
      return error.where();
    }
    return std::string("no error");
  };
  CHECK(where("a\n{{ 1 / 0 }}") == "2:8");
  CHECK(where("é {% if %}") == "1:9");
  CHECK(where("{% for x in messages %}\n\n  {{ nosuch.x }}{% endfor %}") == "no error");
  CHECK(where("\n  {{ nosuch.x }}") == "2:12");
}

TEST_CASE("variables reach the template, and inputs that are not JSON are the caller's fault") {
  text::RenderInput input;
  input.messages = R"([{"role": "user", "content": "hi"}])";
  input.variables = R"({"enable_thinking": false, "big": 12345678901234567890})";
  input.eos_token = "</s>";
  const text::ChatTemplate chat(
      "{{ messages[0].content }}{{ eos_token }}{{ enable_thinking }}{{ big }}{{ tools is defined }}");
  CHECK(chat.render(input).text == "hi</s>False12345678901234567890False");
  input.tools = "null";
  CHECK(chat.render(input).text == "hi</s>False12345678901234567890True");
  const std::string deep = std::string(70, '[') + std::string(70, ']');
  for (const std::string& broken : {std::string("[{]"), std::string("\"\xFF\""), deep}) {
    input.messages = broken;
    CHECK_THROWS_AS(chat.render(input), Error);
  }
  input.messages = "[]";
  input.variables = "[1]";
  CHECK_THROWS_AS(chat.render(input), Error);
}

TEST_CASE("the time is the caller's") {
  const text::ChatTemplate chat("{{ strftime_now('%Y') }}");
  CHECK_THROWS_AS(chat.render({}), Error);
  text::RenderInput input;
  input.now = std::tm{};
  input.now->tm_year = 126;
  CHECK(chat.render(input).text == "2026");
}

TEST_CASE("lint finds what is likely to be a mistake") {
  using Remarks = std::vector<std::string>;
  const std::string sound =
      "{{ bos_token }}{% for m in messages %}{{ m.content }}{% endfor %}{% if add_generation_prompt %}A:{% endif %}";
  CHECK(text::ChatTemplate(sound).lint({"<s>", false}) == Remarks{});
  CHECK(text::ChatTemplate(sound).lint({"<s>", true}) ==
        Remarks{"the template writes the BOS token, and the tokenizer adds it as well"});
  CHECK(text::ChatTemplate("{{ bos_token }}" + sound).lint({"<s>", false}) ==
        Remarks{"the template writes the BOS token twice"});
  CHECK(text::ChatTemplate("{% for m in messages %}{{ m.content }}{% endfor %}").lint() ==
        Remarks{"the template has no generation prompt: it does not look at add_generation_prompt"});
  CHECK(text::ChatTemplate(sound + "{% if tools %}{{ tools|frob }}{{ tools.append(1) }}{% endif %}").lint() ==
        Remarks{"the template uses the filter 'frob', which is not offered",
                "the template calls append(), which the sandbox of transformers refuses"});
  CHECK(text::ChatTemplate(sound + "{{ nosuch.x }}").lint().size() == 1);
}
