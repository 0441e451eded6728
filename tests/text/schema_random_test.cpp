// Proves: what is generated at random under random schemas is valid, as a validator of its own judges it.
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/schema_validator.hpp"

namespace {

using support::Json;

// Schemas of every keyword that the validator knows, with little in common but their names.
class RandomSchemas {
 public:
  explicit RandomSchemas(unsigned seed) : random_(seed) {}

  Json next() {
    Json schema = make(0);
    schema["$defs"] = {{"p", make(2)}, {"q", make(2)}};
    return schema;
  }

 private:
  template <class T>
  T one_of(std::initializer_list<T> list) {
    return list.begin()[random_() % list.size()];
  }
  bool chance(unsigned percent) { return random_() % 100 < percent; }
  int up_to(int most) { return int(random_() % unsigned(most + 1)); }

  Json number() { return one_of<double>({0, 1, -1, 2, 5, 10, -7, 100, 0.5, -0.5, 1.25, 255}); }

  Json value(int depth) {
    switch (up_to(depth < 2 ? 6 : 4)) {
      case 0: return one_of<Json>({nullptr, true, false});
      case 1: return number();
      case 5: return Json::array({value(depth + 1), value(depth + 1)});
      case 6: return {{one_of<std::string>({"a", "b"}), value(depth + 1)}};
      default: return one_of<std::string>({"red", "", "a\"b", "\\", "\xC3\xA9", "0", "null"});
    }
  }

  void limit_string(Json& schema) {
    if (chance(40)) schema["minLength"] = up_to(3);
    if (chance(40)) schema["maxLength"] = up_to(8);
    if (chance(30)) schema["pattern"] = one_of<std::string>({"^[a-z]+$", "[0-9]{2,4}", "^(foo|bar)-[0-9]$", "(ab)*c"});
  }

  void limit_number(Json& schema) {
    if (chance(40)) schema[one_of<std::string>({"minimum", "exclusiveMinimum"})] = number();
    if (chance(40)) schema[one_of<std::string>({"maximum", "exclusiveMaximum"})] = number();
    if (chance(25)) schema["multipleOf"] = one_of<double>({1, 2, 3, 0.5, 0.25, 7});
  }

  void limit_list(Json& schema, int depth) {
    if (chance(30)) schema["prefixItems"] = {make(depth + 1)};
    if (chance(70)) schema["items"] = make(depth + 1);
    if (chance(40)) schema["minItems"] = up_to(2);
    if (chance(50)) schema["maxItems"] = up_to(4);
  }

  void limit_object(Json& schema, int depth) {
    for (const char* name : {"a", "b", "\"q", "\xC3\xA9", ""}) {
      if (chance(40)) schema["properties"][name] = make(depth + 1);
      if (chance(20)) schema["required"].push_back(name);
    }
    if (chance(50)) schema["additionalProperties"] = false;
    if (chance(20)) schema["additionalProperties"] = make(depth + 1);
    if (chance(10)) schema["maxProperties"] = up_to(3);
  }

  Json branches(int depth) {
    Json all = Json::array();
    for (int i = up_to(2); i >= 0; --i) all.push_back(make(depth + 1));
    return all;
  }

  Json make(int depth) {
    Json schema = Json::object();
    const int kind = up_to(depth > 3 ? 5 : 11);
    if (kind <= 1) schema["type"] = "string";
    if (kind == 2) schema["type"] = one_of<std::string>({"number", "integer"});
    if (kind == 3) schema["type"] = {"string", "boolean", "integer"};
    if (kind == 4) schema["enum"] = {value(0), value(0), value(0)};
    if (kind == 5) schema["const"] = value(0);
    if (kind <= 4) limit_string(schema), limit_number(schema);
    if (kind == 6 || kind == 7) schema["type"] = "array", limit_list(schema, depth);
    if (kind == 8 || kind == 9) schema["type"] = "object", limit_object(schema, depth);
    if (kind == 10) schema[one_of<std::string>({"anyOf", "oneOf", "allOf"})] = branches(depth);
    if (kind == 11) schema["$ref"] = one_of<std::string>({"#/$defs/p", "#/$defs/q"});
    return schema;
  }

  std::mt19937 random_;
};

}  // namespace

TEST_CASE("Random texts under random schemas are valid") {
  const support::Vocabulary vocabulary({"\"a\"", "\":", "\",\"", "12", "true", "false", "\"]", "}}", "null", ": ["});
  const inlay::text::TokenTrie trie(vocabulary.views);
  RandomSchemas schemas(1);
  std::mt19937 random(2);
  std::size_t made = 0, refused = 0;
  for (int i = 0; i < 600; ++i) {
    const Json schema = schemas.next();
    INFO(schema.dump());
    inlay::Grammar grammar;
    try {
      grammar = inlay::Grammar::json_schema(schema.dump());
    } catch (const inlay::Error&) {  // nothing is valid, or branches may both be
      ++refused;
      continue;
    }
    for (int round = 0; round < 4; ++round) {
      const std::string text = support::random_sentence(grammar, vocabulary, trie, random, 300);
      if (text.empty()) continue;
      INFO(text);
      const Json value = Json::parse(text, nullptr, false);
      if (value.is_discarded()) continue;  // a number beyond all doubles
      ++made;
      CHECK(support::SchemaValidator(schema).valid(value));
    }
  }
  CHECK(made > 1000);
  CHECK(refused < 200);
  support::count("schema", made);
}

TEST_CASE("A list of values holds beside keywords of other types") {
  const auto grammar =
      inlay::Grammar::json_schema(R"({"type": ["boolean", "integer"], "maximum": 7, "enum": [true, 3]})");
  CHECK(support::accepts(grammar, "true"));
  CHECK(support::accepts(grammar, "3"));
  CHECK_FALSE(support::accepts(grammar, "false"));
}
