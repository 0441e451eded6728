// Grammars as the engine uses them: token masks, forced text, copies, and grammars made to do harm.
#include <random>
#include <set>

#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/grammar_support.hpp"

using inlay::Error;
using inlay::Fault;
using inlay::Grammar;
using inlay::text::GrammarState;
using inlay::text::TokenTrie;
using support::accepts;
using support::Json;

namespace {

const std::vector<std::string> words = {"",
                                        "the",
                                        "he",
                                        " the",
                                        "\"",
                                        "\",",
                                        "\":",
                                        "\": \"",
                                        "{\"",
                                        "\"}",
                                        "\"}]",
                                        "}}",
                                        "},{",
                                        "[{\"",
                                        "name",
                                        "na",
                                        "me\":",
                                        "id",
                                        "tag",
                                        "s\":[",
                                        "0",
                                        "12",
                                        "123",
                                        "9.5",
                                        "e1",
                                        "-",
                                        "tru",
                                        "true",
                                        "false",
                                        "null",
                                        ",\"",
                                        "\\n",
                                        "\\",
                                        "\\u00",
                                        "u00e9",
                                        "\xC3\xA4",
                                        "\xC3",
                                        "\xA4"
                                        "b",
                                        "\xE4\xBD\xA0\xE5\xA5\xBD",
                                        "\xE4\xBD",
                                        "\xA0",
                                        "\n",
                                        "\n  ",
                                        "  ",
                                        " ",
                                        "a",
                                        "aa",
                                        "aaaa",
                                        "aaaaaaaa",
                                        "ab\"",
                                        "ab\",\"x",
                                        "(",
                                        ")",
                                        "((",
                                        "))",
                                        "+",
                                        "1+1",
                                        "=",
                                        ")*(",
                                        "2020-",
                                        "-02-",
                                        "29",
                                        "T23:",
                                        "a@b",
                                        ".org",
                                        "abcdefgh",
                                        "the\"",
                                        "\x7F",
                                        "\x01"};

const char* schemas[] = {
    "true",
    R"({"type": "string", "maxLength": 5})",
    R"({"type": "string", "minLength": 3, "maxLength": 40})",
    R"({"type": "array", "items": {"type": "string", "minLength": 2}, "maxItems": 3})",
    R"({"type": "object", "properties": {"name": {"type": "string"}, "id": {"type": "integer", "maximum": 200}, "tags": {"type": "array",
        "items": {"enum": ["a", "ab", "the"]}}}, "required": ["id"]})",
    R"({"type": "object", "additionalProperties": {"type": "array", "items": {"type": "boolean"}, "maxItems": 2}, "maxProperties": 2})",
    R"({"type": "string", "format": "date-time"})",
    R"({"type": "string", "pattern": "^(a|the){1,3}[a-z]*$"})",
    R"({"$ref": "#/$defs/t", "$defs": {"t": {"type": "array", "items": {"$ref": "#/$defs/t"}, "maxItems": 2}}})"};

const char* rules[] = {"root ::= e\ne ::= t (\"+\" t)*\nt ::= [0-9a]+ | \"(\" e \")\" (\"*\" t)?",
                       "root ::= ([a-z ]{2,6} | \"aa\"*) \"=\" root?", "root ::= x{3}\nx ::= \"a\" x? | \"b\"",
                       "root ::= [^\\n]* \"\\n\" root | \"the\" .{0,9}"};

std::vector<Grammar> grammars() {
  std::vector<Grammar> out;
  for (const char* schema : schemas) out.push_back(Grammar::json_schema(schema));
  for (const char* text : rules) out.push_back(Grammar::gbnf(text));
  return out;
}

// Every bit of the mask against what the state itself says of the token.
void check_mask(const GrammarState& state, const support::Vocabulary& vocabulary, const TokenTrie& trie) {
  std::vector<std::uint64_t> bits(trie.words(), ~std::uint64_t{0});
  inlay::text::mask_tokens(state, trie, bits);
  for (std::size_t token = 0; token < vocabulary.pieces.size(); ++token) {
    GrammarState copy = state;
    const bool follows = !vocabulary.pieces[token].empty() && copy.accept(vocabulary.pieces[token]);
    INFO("token " << vocabulary.pieces[token]);
    REQUIRE(support::bit(bits, token) == follows);
  }
}

std::set<Fault> faults_of(const Json& test) {
  static const std::map<std::string, Fault> faults = {
      {"syntax", Fault::bad_value},           {"bad_value", Fault::bad_value},
      {"encoding", Fault::bad_string},        {"left_recursion", Fault::inconsistent},
      {"cycle", Fault::inconsistent},         {"unsatisfiable", Fault::inconsistent},
      {"undefined_rule", Fault::missing_key}, {"limit", Fault::limit},
      {"unsupported", Fault::unsupported},    {"forbidden", Fault::unsupported}};
  std::set<Fault> out;
  if (test.contains("kind")) out.insert(faults.at(test["kind"]));
  for (const std::string kind : test.value("also", Json::array())) out.insert(faults.at(kind));
  return out;
}

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

std::string text_of(const Json& test, const std::filesystem::path& folder) {
  if (test.contains("file")) return support::read(folder / test["file"].get<std::string>());
  std::string out;
  for (const Json& piece : test["build"]) {
    for (int i = 0; i < piece.value("n", 1); ++i) {
      std::string text = piece.contains("s") ? piece["s"] : piece["fmt"];
      if (piece.contains("fmt"))
        replace_all(text, "{i+1}", std::to_string(i + 1)), replace_all(text, "{i}", std::to_string(i));
      out += text;
    }
  }
  REQUIRE(out.size() == test["size"].get<std::size_t>());
  return out;
}

void check_hostile(const Json& test, const std::string& text) {
  const std::string expect = test["expect"];
  try {
    const Grammar grammar = test["type"] == "gbnf" ? Grammar::gbnf(text) : Grammar::json_schema(text);
    CHECK(expect != "error");
    for (const std::string good : test.value("accepts", Json::array())) CHECK(accepts(grammar, good));
    for (const std::string bad : test.value("rejects", Json::array())) CHECK_FALSE(accepts(grammar, bad));
    const support::Vocabulary vocabulary(words);
    const TokenTrie trie(vocabulary.views);
    std::mt19937 random(4);
    support::random_sentence(grammar, vocabulary, trie, random, 40);
  } catch (const Error& error) {
    INFO(error.what());
    CHECK(expect != "ok");
    CHECK(error.code() == inlay::Errc::argument);
    CHECK(faults_of(test).contains(error.fault()));
  }
}

}  // namespace

TEST_CASE("A token's bit is set exactly if the state accepts the token") {
  const support::Vocabulary vocabulary(words);
  const TokenTrie trie(vocabulary.views);
  std::mt19937 random(5);
  for (const Grammar& grammar : grammars()) {
    for (int round = 0; round < 4; ++round) {
      GrammarState state(grammar);
      std::vector<std::uint64_t> bits(trie.words());
      for (int step = 0; step < 30 && !state.finished(); ++step) {
        check_mask(state, vocabulary, trie);
        inlay::text::mask_tokens(state, trie, bits);
        std::vector<std::size_t> allowed;
        for (std::size_t token = 0; token < vocabulary.pieces.size(); ++token) {
          if (support::bit(bits, token)) allowed.push_back(token);
        }
        REQUIRE((!allowed.empty() || state.complete()));
        if (allowed.empty()) break;
        REQUIRE(state.accept(vocabulary.pieces[allowed[random() % allowed.size()]]));
      }
    }
  }
}

TEST_CASE("One grammar serves vocabularies in turn") {
  const Grammar grammar = Grammar::json_schema(R"({"type": "string", "maxLength": 9})");
  const support::Vocabulary one, two(words);
  const TokenTrie first(one.views), second(two.views);
  GrammarState state(grammar);
  REQUIRE(state.accept("\"a"));
  for (int i = 0; i < 3; ++i) check_mask(state, one, first), check_mask(state, two, second);
}

TEST_CASE("Text that must follow is known") {
  GrammarState state(
      Grammar::json_schema(R"({"type": "object", "properties": {"kind": {"const": "circle"}}, "required": ["kind"],
                                              "additionalProperties": false})"));
  REQUIRE(state.accept("{\""));
  CHECK(state.forced() == "kind\"");
  REQUIRE(state.accept("kind\": \""));
  CHECK(state.forced() == "circle\"");
  CHECK(state.forced(3) == "cir");
  REQUIRE(state.accept("circle\"}"));
  CHECK(state.finished());
  CHECK(state.forced().empty());
  const std::string_view texts[] = {"left", "leftover"};
  GrammarState choice(Grammar::choice(texts));
  CHECK(choice.forced() == "left");  // the text may end here
}

TEST_CASE("Copies of a state go on independently") {
  GrammarState state(Grammar::json());
  REQUIRE(state.accept("[1, {\"a\": [[[2"));
  GrammarState copy = state;
  REQUIRE(copy.accept("]]]}]"));
  CHECK(copy.complete());
  CHECK_FALSE(state.complete());
  REQUIRE(state.accept("0], 3]]}]"));
  CHECK(state.finished());
}

TEST_CASE("Choices may contain each other, and any characters") {
  const std::string_view texts[] = {"a", "ab", "\xC3\xA4\"\n", "a", ""};
  const Grammar grammar = Grammar::choice(texts);
  for (const std::string_view text : texts) CHECK(accepts(grammar, text));
  CHECK_FALSE(accepts(grammar, "b"));
  CHECK_THROWS_AS(Grammar::choice({}), Error);
}

TEST_CASE("An empty grammar has no state, and a mask its size") {
  CHECK_THROWS_AS(GrammarState(Grammar()), Error);
  const support::Vocabulary vocabulary;
  const TokenTrie trie(vocabulary.views);
  std::vector<std::uint64_t> bits(trie.words() + 1);
  CHECK_THROWS_AS(inlay::text::mask_tokens(GrammarState(Grammar::json()), trie, bits), Error);
}

TEST_CASE("Deep nesting is followed to its limit, and then is an error") {
  GrammarState state(Grammar::json());
  for (int i = 0; i < 200; ++i) REQUIRE(state.accept(std::string(100, '[')));
  const auto nest = [&] {
    for (int i = 0; i < 100; ++i) state.accept(std::string(1000, '['));
  };
  CHECK_THROWS_AS(nest(), Error);
  CHECK(state.accept("1"));
}

TEST_CASE("Long counted texts are read at once") {
  GrammarState state(Grammar::json_schema(R"({"type": "string", "minLength": 3, "maxLength": 200000})"));
  REQUIRE(state.accept("\"" + std::string(200000, 'a')));
  CHECK_FALSE(state.accept("a"));
  CHECK(state.accept("\""));
}

TEST_CASE("Hostile grammars end in a typed error or in the documented result") {
  for (const std::string set : {"malformed/grammars", "fixtures/malformed/grammars"}) {
    for (const auto& folder : support::folders(set)) {
      const Json manifest = Json::parse(support::read(folder / "manifest.json"));
      for (const Json& test : manifest["cases"]) {
        INFO(test["name"].get<std::string>());
        check_hostile(test, text_of(test, folder));
      }
      support::count("hostile grammars", manifest["cases"].size());
    }
  }
}
