// JSON schemas as grammars: every expressible case is judged as JSON Schema judges it, every other is refused.
#include <map>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/grammar_support.hpp"

using inlay::Error;
using inlay::Fault;
using inlay::Grammar;
using inlay::Unsupported;
using support::accepts;
using support::Json;

namespace {

// A compiled schema, or why there is none. A schema that nothing can satisfy rejects every text.
struct Compiled {
  Grammar grammar;
  Fault fault = Fault::none;
  std::string what, where;
  bool refused() const { return !grammar && fault != Fault::inconsistent; }
  bool accepts(const std::string& text) const { return grammar && support::accepts(grammar, text); }
};

Compiled compile(const std::string& schema, Unsupported unsupported = Unsupported::refuse) {
  try {
    return {Grammar::json_schema(schema, unsupported), Fault::none, {}, {}};
  } catch (const Error& error) {
    CHECK(error.code() == inlay::Errc::argument);
    return {{}, error.fault(), error.what(), error.where()};
  }
}

class Schemas {
 public:
  const Compiled& operator[](const std::string& schema) { return of(schema, Unsupported::refuse); }
  const Compiled& of(const std::string& schema, Unsupported unsupported) {
    const auto [at, added] = known_.try_emplace({schema, unsupported});
    if (added) at->second = compile(schema, unsupported);
    return at->second;
  }

 private:
  std::map<std::pair<std::string, Unsupported>, Compiled> known_;
};

// What of a reason for not being plain an error must name.
std::string named_in_error(const std::string& reason) {
  const auto colon = reason.find(':');
  if (reason.starts_with("format:")) return "format";
  return colon == std::string::npos ? reason : reason.substr(colon + 1);
}

bool names_a_reason(const Compiled& compiled, const Json& reasons) {
  for (const std::string reason : reasons) {
    const std::string name = named_in_error(reason);
    if (compiled.what.find(name) != std::string::npos || compiled.where.find(name) != std::string::npos) return true;
  }
  return compiled.fault == Fault::unsupported || compiled.fault == Fault::limit;
}

struct Tally {
  std::size_t plain = 0, answered = 0, refused = 0, inexpressible = 0;
};

void check_case(const Json& test, const Compiled& compiled, Tally& tally) {
  INFO(test.dump().substr(0, 2000) << " -> " << compiled.what);
  const std::string kind = test["class"];
  const bool valid = test["valid"];
  if (kind == "core") {
    REQUIRE_FALSE(compiled.refused());
    for (const std::string form : test["forms"]) CHECK(compiled.accepts(form) == valid);
    ++tally.plain;
  } else if (kind == "extended") {
    ++(compiled.refused() ? tally.refused : tally.answered);
    if (compiled.refused())
      CHECK(names_a_reason(compiled, test["reasons"]));
    else
      CHECK(compiled.accepts(test["instance"]) == valid);
  } else {
    ++tally.inexpressible;
    if (!valid) CHECK_FALSE(compiled.accepts(test["instance"]));
  }
}

void check_llama(const Json& test) {
  const std::string schema = test["schema"].dump(), text = test["text"];
  Compiled compiled = compile(schema);
  // llama.cpp takes no notice of uniqueItems; who wants that says so.
  if (compiled.where.ends_with("uniqueItems")) compiled = compile(schema, Unsupported::ignore);
  INFO(test.dump() << " -> " << compiled.what);
  REQUIRE_FALSE(compiled.refused());
  const bool accepted = compiled.accepts(text);
  const bool as_valid = test["jsonschema_valid"].is_boolean() && accepted == test["jsonschema_valid"].get<bool>();
  CHECK((accepted == test["accept"].get<bool>() || as_valid));
}

}  // namespace

TEST_CASE("Schemas of the project judge texts as an independent validator does") {
  Schemas schemas;
  const auto cases = support::read_lines((support::data() / "schema/cases.jsonl").string());
  REQUIRE(cases.size() > 100);
  for (const Json& test : cases) {
    // Keywords that only those get who ask for no errors.
    const bool lenient = test.value("lenient", false);
    const Compiled& compiled = schemas.of(test["schema"].dump(), lenient ? Unsupported::ignore : Unsupported::refuse);
    INFO(test.dump() << " -> " << compiled.what);
    REQUIRE_FALSE(compiled.refused());
    CHECK(compiled.accepts(test["text"]) == test["valid"].get<bool>());
  }
  support::count("schema", cases.size());
}

TEST_CASE("The suite of JSON Schema and schemas in use are judged as marked, or refused") {
  for (const auto& folder : support::folders("fixtures/schema")) {
    Schemas schemas;
    Tally tally;
    std::map<std::string, std::string> named;
    for (const Json& line : support::read_lines((folder / "real_schemas.jsonl").string())) {
      named[line.contains("name") ? line["name"] : line["schema_name"]] = line["schema"].dump();
    }
    for (const std::string file : {"suite.jsonl", "real.jsonl"}) {
      for (const Json& test : support::read_lines((folder / file).string())) {
        check_case(test, schemas[test.contains("schema") ? test["schema"].dump() : named.at(test["schema_name"])],
                   tally);
      }
    }
    CHECK(tally.answered > tally.refused);
    support::count("schema", tally.plain + tally.answered + tally.refused + tally.inexpressible);
    const auto llama = support::read_lines((folder / "llamacpp_schema_tests.jsonl").string());
    for (const Json& test : llama) check_llama(test);
    support::count("schema", llama.size());
  }
}

TEST_CASE("A keyword that cannot be honoured is an error that names it") {
  const std::pair<std::string, std::string> cases[] = {
      {R"({"properties": {"a": {"not": {}}}})", "#/properties/a/not"},
      {R"({"type": "array", "uniqueItems": true})", "#/uniqueItems"},
      {R"({"$defs": {"x~/y": {"type": "object", "dependentRequired": {}}}, "$ref": "#/$defs/x~0~1y"})",
       "#/$defs/x~0~1y/dependentRequired"},
      {R"({"items": {"type": "string", "format": "hostname"}})", "#/items/format"},
      {R"-({"type": "string", "pattern": "(?=a)"})-", "#/pattern"},
      {R"({"oneOf": [{"items": {"type": "integer"}}, {"items": {"type": "number"}}]})", "#/oneOf"},
      {R"({"if": {"type": "string"}, "then": {"minLength": 3}})", "#/if"},
      {R"({"type": "integer", "multipleOf": 4099})", "#/multipleOf"},
      {R"({"type": "object", "minProperties": 2})", "#/minProperties"},
      {R"({"type": "number", "multipleOf": 0.000000000001})", "#/multipleOf"}};
  for (const auto& [schema, where] : cases) {
    const Compiled compiled = compile(schema);
    INFO(schema << " -> " << compiled.what);
    CHECK(compiled.fault == Fault::unsupported);
    CHECK(compiled.where == where);
    CHECK(compiled.what.find(where) != std::string::npos);
  }
  CHECK(bool(compile(cases[0].first, Unsupported::ignore).grammar));
  CHECK(bool(compile(cases[1].first, Unsupported::ignore).grammar));
  const Compiled host = compile(R"({"type": "string", "format": "hostname"})", Unsupported::ignore);
  for (const std::string name : {"a", "www.example.com", "1host", "a--b.com", "host-name"})
    CHECK(host.accepts('"' + name + '"'));
  for (const std::string name : {"", "-a", "a-", "a..b", "a.", "a_b", "xn--X"})
    CHECK_FALSE(host.accepts('"' + name + '"'));
}

TEST_CASE("Keywords that do not matter for the allowed types are no error") {
  CHECK(
      compile(R"({"type": "string", "uniqueItems": true, "contains": {}, "dependentRequired": {}})").accepts("\"x\""));
  CHECK(compile(R"({"type": "array", "uniqueItems": true, "maxItems": 1})").accepts("[1]"));
}

TEST_CASE("Random texts under a schema are valid") {
  const std::string schema = R"({"type": "object", "properties": {
      "id": {"type": "integer", "minimum": -20, "maximum": 1500, "multipleOf": 5},
      "name": {"type": "string", "minLength": 2, "maxLength": 6},
      "ratio": {"type": "number", "exclusiveMinimum": -0.5, "maximum": 12.25},
      "tags": {"type": "array", "items": {"enum": ["a", "b\n", 3, null]}, "minItems": 1, "maxItems": 3},
      "next": {"$ref": "#"}}, "required": ["id", "tags"], "additionalProperties": false})";
  const Grammar grammar = Grammar::json_schema(schema);
  const support::Vocabulary vocabulary(
      {"\"id\"", "\":", "\",\"", "12", "name", "\"]", "}}", "null", "ab\"", "\"tags\": [", "\n  "});
  const inlay::text::TokenTrie trie(vocabulary.views);
  std::mt19937 random(3);
  std::size_t made = 0;
  for (int round = 0; round < 200; ++round) {
    const std::string text = support::random_sentence(grammar, vocabulary, trie, random);
    if (text.empty()) continue;
    INFO(text);
    ++made;
    for (Json at = Json::parse(text); !at.is_null(); at = at.contains("next") ? at["next"] : Json()) {
      CHECK((at["id"].get<double>() >= -20 && at["id"].get<double>() <= 1500 && at["id"].get<std::int64_t>() % 5 == 0));
      CHECK((at["tags"].size() >= 1 && at["tags"].size() <= 3));
      if (at.contains("ratio")) CHECK((at["ratio"].get<double>() > -0.5 && at["ratio"].get<double>() <= 12.25));
      if (!at.contains("name")) continue;
      const std::string name = at["name"];
      const auto characters = std::count_if(name.begin(), name.end(), [](char c) { return (c & 0xC0) != 0x80; });
      CHECK((characters >= 2 && characters <= 6));
    }
  }
  CHECK(made > 20);
}
