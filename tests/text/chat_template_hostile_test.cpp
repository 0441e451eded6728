// Proves that templates from strangers end in a typed error or a rendering, within fixed limits.
#include <map>
#include <nlohmann/json.hpp>

#include "inlay/error.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/chat_support.hpp"

namespace {

using nlohmann::ordered_json;
using namespace inlay;

std::string source_of(const ordered_json& row, const std::filesystem::path& folder) {
  if (row.contains("file")) return support::read(folder / row["file"].get<std::string>());
  std::string source;
  for (const auto& part : row["build"]) {
    for (int i = 0; i < part.value("n", 1); ++i) {
      std::string text = part.contains("fmt") ? part["fmt"] : part["s"];
      if (const auto mark = text.find("{i}"); mark != text.npos)
        text.replace(mark, 3, std::to_string(part.value("from", 0) + i));
      source += text;
    }
  }
  return source;
}

// The kind of an error in the words of the manifest.
std::string kind_of(const Error& error) {
  static const std::map<Fault, std::string> kinds = {
      {Fault::bad_value, "syntax"},        {Fault::limit, "limit"},           {Fault::inconsistent, "forbidden"},
      {Fault::unsupported, "unsupported"}, {Fault::missing_key, "undefined"}, {Fault::wrong_type, "type"},
      {Fault::overflow, "arithmetic"},     {Fault::none, "raised"},           {Fault::bad_string, "encoding"}};
  return kinds.at(error.fault());
}

bool is_one_of(const std::string& kind, const ordered_json& row) {
  if (row["kind"] == kind) return true;
  const auto also = row.value("also", std::vector<std::string>{});
  return std::find(also.begin(), also.end(), kind) != also.end();
}

// Deep nesting is cut off before the end of the template is seen to be missing.
bool is_accepted(const std::string& kind, const ordered_json& row) {
  return is_one_of(kind, row) || (row["expect"] == "either" && kind == "limit") || row["expect"] == "either";
}

std::string fault_of(const std::string& source, const text::TemplateLimits& limits) {
  try {
    text::ChatTemplate(source, limits).render({});
    return "none";
  } catch (const Error& error) {
    return kind_of(error);
  }
}

}  // namespace

TEST_CASE("hostile templates end as their manifest says") {
  for (const auto& folder : support::folders("malformed/templates")) {
    const auto manifest = ordered_json::parse(support::read(folder / "manifest.json"));
    for (const auto& row : manifest["cases"]) {
      CAPTURE(row["name"]);
      auto context = row.value("context", manifest["context"]);
      context["vars"] = {{"bos_token", "<s>"}, {"eos_token", "</s>"}};
      try {
        const auto rendered = text::ChatTemplate(source_of(row, folder)).render(chat::Input(context).view());
        CHECK(row["expect"] != "error");
        if (row.contains("output")) CHECK(rendered.text == row["output"].get<std::string>());
      } catch (const Error& error) {
        CAPTURE(error.what());
        CHECK(row["expect"] != "ok");
        CHECK(is_accepted(kind_of(error), row));
        if (row.contains("message")) CHECK(row["message"] == error.what());
      }
      support::count("malformed templates", 1);
    }
  }
}

TEST_CASE("each limit holds at its value and not beyond") {
  text::TemplateLimits limits;
  limits.range = 10;
  CHECK(fault_of("{{ range(10)|length }}", limits) == "none");
  CHECK(fault_of("{{ range(11)|length }}", limits) == "limit");
  limits.output = 1000;
  CHECK(fault_of("{{ 'x' * 1000 }}", limits) == "none");
  CHECK(fault_of("{{ 'x' * 1001 }}", limits) == "limit");
  limits.calls = 3;
  const std::string calls = "{% macro f(n) %}{% if n > 1 %}{{ f(n - 1) }}{% endif %}{% endmacro %}";
  CHECK(fault_of(calls + "{{ f(3) }}", limits) == "none");
  CHECK(fault_of(calls + "{{ f(4) }}", limits) == "limit");
  limits.steps = 200;
  CHECK(fault_of("{% for x in range(10) %}{{ x }}{% endfor %}", limits) == "none");
  CHECK(fault_of("{% for x in range(10) %}{% for y in range(10) %}{{ x }}{% endfor %}{% endfor %}", limits) == "limit");
  limits = {};
  limits.memory = 100'000;
  CHECK(fault_of("{{ ('x' * 20000)|length }}", limits) == "none");
  CHECK(fault_of("{{ ('x' * 200000)|upper|length }}", limits) == "limit");
}

TEST_CASE("work on long texts and large containers is counted") {
  const text::TemplateLimits limits;
  const std::string repeated = "{% for i in range(100000) %}{% for j in range(100000) %}";
  const std::string text = "{% set a = 'a' * 1000000 %}", list = "{% set l = range(100000)|list %}";
  const std::string shared =
      "{% set s = namespace(l=[1]) %}{% for i in range(60) %}{% set s.l = [s.l, s.l] %}{% endfor %}";
  for (const std::string& source :
       {text + repeated + "{{ 'aaab' in a }}", text + repeated + "{{ a.rfind('aab') }}",
        text + repeated + "{% set b = a|upper %}", text + repeated + "{{ a.strip('bca')|length }}",
        text + repeated + "{{ a|wordcount }}", text + repeated + "{{ a[999999] }}", list + repeated + "{{ 'x' in l }}",
        list + repeated + "{% set b = l|tojson %}", list + repeated + "{% set b = l == l[:] %}", shared + "{{ s.l }}",
        shared + "{{ s.l == s.l }}", std::string("{% set l = [] %}{% set _ = l.append(l) %}{{ l }}")}) {
    const std::string ends = source.find(repeated) == source.npos ? "" : "{% endfor %}{% endfor %}";
    CAPTURE(source);
    CHECK(fault_of(source + ends, limits) == "limit");
  }
}

TEST_CASE("every beginning of a template compiles or says why not") {
  const std::string source = support::read(support::data() / "chat" / "templates" / "workshop.jinja");
  for (std::size_t size = 0; size < source.size(); ++size) {
    CAPTURE(size);
    const std::string kind = fault_of(source.substr(0, size), {});
    CHECK((kind == "none" || kind == "syntax" || kind == "raised" || kind == "type" || kind == "encoding"));
  }
}
