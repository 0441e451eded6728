// Proves: what is generated at random under random schemas is valid, as a validator of its own judges it.
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/schema_validator.hpp"

namespace {

using support::Json;

// Schemas of every keyword that the validator knows, with little in common but their names.
class RandomSchemas {
 public:
  // `turning`: also what is told by what does not hold ("not", "if"), of schemas that can be turned round.
  explicit RandomSchemas(unsigned seed, bool turning = false) : turning_(turning), random_(seed) {}

  Json next() {
    Json schema = make(0, true);
    schema["$defs"] = {{"p", make(2, false)}, {"q", make(2, false)}};
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
    switch (up_to(depth < 2 && !turned_ ? 6 : 4)) {
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
    if (chance(25) && !turned_) schema["multipleOf"] = one_of<double>({1, 2, 3, 0.5, 0.25, 7, 1000, 4096});
  }

  void limit_list(Json& schema, int depth) {
    if (chance(30) && !turned_) schema["prefixItems"] = {make(depth + 1, true)};
    if (chance(70) && !turned_) schema["items"] = make(depth + 1, true);
    if (chance(40)) schema["minItems"] = up_to(2);
    if (chance(50)) schema["maxItems"] = up_to(4);
  }

  void limit_object(Json& schema, int depth) {
    for (const char* name : {"a", "b", "\"q", "\xC3\xA9", ""}) {
      if (chance(40)) schema["properties"][name] = make(depth + 1, true);
      if (chance(20)) schema["required"].push_back(name);
    }
    if (chance(50) && !turned_) schema["additionalProperties"] = false;
    if (chance(20) && !turned_) schema["additionalProperties"] = make(depth + 1, true);
    if (chance(10)) schema["maxProperties"] = up_to(3);
  }

  Json branches(int depth, bool within) {
    Json all = Json::array();
    for (int i = up_to(2); i >= 0; --i) all.push_back(make(depth + 1, within));
    return all;
  }

  // `within` the elements or members of what refers to it: a reference elsewhere might lead to itself.
  Json make(int depth, bool within) {
    Json schema = Json::object();
    const int kind = up_to(depth > 3 ? 5 : turning_ && !turned_ ? 14 : 11);
    if (kind <= 1) schema["type"] = "string";
    const char* whole = turned_ ? "number" : "integer";  // which doubles cannot tell of large numbers
    if (kind == 2) schema["type"] = one_of<std::string>({"number", whole});
    if (kind == 3) schema["type"] = {"string", "boolean", whole};
    if (kind == 4) schema["enum"] = {value(0), value(0), value(0)};
    if (kind == 5) schema["const"] = value(0);
    if (kind <= 4) limit_string(schema), limit_number(schema);
    if (kind == 6 || kind == 7) schema["type"] = "array", limit_list(schema, depth);
    if (kind == 8 || kind == 9) schema["type"] = "object", limit_object(schema, depth);
    if (kind == 10)
      schema[one_of<std::string>({"anyOf", turning_ ? "anyOf" : "oneOf", "allOf"})] = branches(depth, within);
    if (kind == 12) schema["not"] = turned(depth + 1);
    if (kind == 13)
      schema["if"] = turned(depth + 1), schema["then"] = make(depth + 1, within),
      schema["else"] = make(depth + 1, within);
    if (kind == 14) schema["dependentSchemas"]["a"] = make(depth + 1, within), schema["dependentRequired"]["b"] = {"a"};
    if (kind == 11 && within && !turned_) schema["$ref"] = one_of<std::string>({"#/$defs/p", "#/$defs/q"});
    return schema;
  }

  Json turned(int depth) {
    const bool before = std::exchange(turned_, true);
    const Json schema = make(depth, false);
    turned_ = before;
    return schema;
  }

  const bool turning_;
  bool turned_ = false;  // inside what is turned round
  std::mt19937 random_;
};

struct Made {
  std::size_t texts = 0, refused = 0;
};

Made check_random(RandomSchemas schemas, inlay::Unsupported unsupported) {
  const support::Vocabulary vocabulary({"\"a\"", "\":", "\",\"", "12", "true", "false", "\"]", "}}", "null", ": ["});
  const inlay::text::TokenTrie trie(vocabulary.views);
  std::mt19937 random(2);
  Made made;
  for (int i = 0; i < 600; ++i) {
    const Json schema = schemas.next();
    INFO(schema.dump());
    inlay::Grammar grammar;
    try {
      grammar = inlay::Grammar::json_schema(schema.dump(), unsupported);
    } catch (const inlay::Error&) {  // nothing is valid, or branches may both be
      ++made.refused;
      continue;
    }
    for (int round = 0; round < 4; ++round) {
      const std::string text = support::random_sentence(grammar, vocabulary, trie, random, 300);
      if (text.empty()) continue;
      INFO(text);
      const Json value = Json::parse(text, nullptr, false);
      if (value.is_discarded()) continue;  // a number beyond all doubles
      ++made.texts;
      CHECK(support::SchemaValidator(schema).valid(value));
    }
  }
  support::count("schema", made.texts);
  return made;
}

}  // namespace

TEST_CASE("Random texts under random schemas are valid") {
  const Made made = check_random(RandomSchemas(1), inlay::Unsupported::refuse);
  CHECK(made.texts > 1000);
  CHECK(made.refused < 200);
}

TEST_CASE("Random texts are valid where schemas say what does not hold, for those who ask for no errors") {
  const Made made = check_random(RandomSchemas(3, true), inlay::Unsupported::ignore);
  CHECK(made.texts > 1000);
  CHECK(made.refused < 200);
}

TEST_CASE("A list of values holds beside keywords of other types") {
  const auto grammar =
      inlay::Grammar::json_schema(R"({"type": ["boolean", "integer"], "maximum": 7, "enum": [true, 3]})");
  CHECK(support::accepts(grammar, "true"));
  CHECK(support::accepts(grammar, "3"));
  CHECK_FALSE(support::accepts(grammar, "false"));
}
