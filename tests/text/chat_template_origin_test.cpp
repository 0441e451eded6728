// Proves that a user's text never passes for the template's own, whatever filters it went through.
#include <nlohmann/json.hpp>
#include <sstream>

#include "inlay/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/chat_support.hpp"

namespace {

using Kind = inlay::text::Span::Kind;
using nlohmann::ordered_json;

std::vector<std::pair<std::string, Kind>> pieces(const std::string& source) {
  inlay::text::RenderInput input;
  input.messages = R"([{"role": "user", "content": " a<b>c\n\"d\" 42 Ünï "}, {"role": "assistant", "content": "yes"},
                       {"role": "critic", "content": "hm"}])";
  const auto rendered = inlay::text::ChatTemplate("{% set u = messages[0].content %}" + source).render(input);
  std::vector<std::pair<std::string, Kind>> found;
  for (const auto& span : rendered.spans)
    found.emplace_back(rendered.text.substr(span.begin, span.end - span.begin), span.kind);
  return found;
}

Kind kind_of_role(const std::string& role) {
  if (role == "user") return Kind::user;
  if (role == "assistant") return Kind::assistant;
  if (role == "tool") return Kind::tool;
  return role == "system" || role == "developer" ? Kind::system : Kind::other;
}

// Puts a mark around every text of the messages and returns the marks with their kinds.
std::vector<std::pair<std::string, Kind>> mark(ordered_json& messages) {
  std::vector<std::pair<std::string, Kind>> marks;
  for (auto& message : messages) {
    auto& content = message["content"];
    const auto put = [&](ordered_json& text) {
      marks.emplace_back("MARK" + std::to_string(marks.size()) + "END", kind_of_role(message["role"]));
      text = marks.back().first + text.get<std::string>() + marks.back().first;
    };
    if (content.is_string()) put(content);
    if (!content.is_array()) continue;
    for (auto& part : content) {
      if (part.contains("text")) put(part["text"]);
    }
  }
  return marks;
}

bool has_kind(const inlay::text::Rendered& rendered, std::size_t begin, std::size_t end, Kind kind) {
  for (const auto& span : rendered.spans) {
    if (span.begin < end && span.end > begin && span.kind != kind) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("text keeps its origin through operators, filters and methods") {
  using Pieces = std::vector<std::pair<std::string, Kind>>;
  const auto t = Kind::template_text;
  const auto u = Kind::user;
  CHECK(pieces("<|{{ messages[0].role }}|>{{ u|trim }}<|end|>") ==
        Pieces{{"<|user|>", t}, {"a<b>c\n\"d\" 42 Ünï", u}, {"<|end|>", t}});
  CHECK(pieces("{{ 'x' + u.strip()[:3] ~ 'y' }}") == Pieces{{"x", t}, {"a<b", u}, {"y", t}});
  CHECK(pieces("{{ ('x' ~ u ~ 'y')|upper|trim('XY') }}") == Pieces{{" A<B>C\n\"D\" 42 ÜNÏ ", u}});
  CHECK(pieces("{{ u.split('<b>')[1].split('\\n')|join('-') }}") == Pieces{{"c", u}, {"-", t}, {"\"d\" 42 Ünï ", u}});
  CHECK(pieces("{{ 'say: %s.' % u[1:2] }}{{ '[{}]'.format(u[5:6]) }}") ==
        Pieces{{"say: ", t}, {"a", u}, {".[", t}, {"c", u}, {"]", t}});
  CHECK(pieces("{{ 'a-b'|replace('-', u[1:2]) }}") == Pieces{{"a", t}, {"a", u}, {"b", t}});
  CHECK(pieces("{{ u[1:6]|replace('<b>', '<|e|>') }}") == Pieces{{"a", u}, {"<|e|>", t}, {"c", u}});
  CHECK(pieces("{{ u|tojson }}") == Pieces{{"\" a<b>c\\n\\\"d\\\" 42 Ünï \"", u}});
  CHECK(pieces("{{ [u[1:2], 'x'] }}{{ {'k': u[1:2]}|tojson }}") == Pieces{{"['a', 'x']{\"k\": \"a\"}", u}});
  CHECK(pieces("{{ [messages[0].content[1:2], messages[1].content] }}") == Pieces{{"['a', 'yes']", Kind::other}});
  CHECK(pieces("{{ messages[2].role }}{{ messages[1].role }}") == Pieces{{"critic", Kind::other}, {"assistant", t}});
  CHECK(pieces("{{ u[10:13]|int + 1 }}{{ u[10:13]|float }}") == Pieces{{"4342.0", u}});
  CHECK(pieces("{% set x %}<{{ u[1:2] }}>{% endset %}{{ x|indent|e }}") == Pieces{{"&lt;", t}, {"a", u}, {"&gt;", t}});
  CHECK(pieces("{% macro m(x) %}({{ x }}){% endmacro %}{{ m(u[1:2]) }}") == Pieces{{"(", t}, {"a", u}, {")", t}});
  CHECK(pieces("{{ u[1:3]|list|reverse|join }}{{ u[1:3]|reverse }}{{ u[1:2] * 3 }}") == Pieces{{"<a<aaaa", u}});
  CHECK(pieces("{{ (u[1:2] ~ '|')|center(5) }}") == Pieces{{"  ", t}, {"a", u}, {"| ", t}});
}

TEST_CASE("in real conversations every byte of a message is known to be the speaker's") {
  for (const auto& folder : support::folders("chat")) {
    std::istringstream rows(support::read(folder / "cases.jsonl"));
    for (std::string line; std::getline(rows, line);) {
      auto row = ordered_json::parse(line);
      const auto marks = mark(row["messages"]);
      const auto path = folder / "templates" / row["template"].get<std::string>();
      const auto& compiled = chat::compiled(path);
      inlay::text::Rendered rendered;
      try {
        rendered = compiled.render(chat::Input(row).view());
      } catch (const inlay::Error&) {
        continue;  // the marks changed what the template decides on
      }
      CAPTURE(row["id"]);
      for (const auto& [text, kind] : marks) {
        for (std::size_t at = rendered.text.find(text); at != std::string::npos;
             at = rendered.text.find(text, at + 1)) {
          CHECK(has_kind(rendered, at, at + text.size(), kind));
        }
      }
    }
  }
}
