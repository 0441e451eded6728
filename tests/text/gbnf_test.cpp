// GBNF rules accept and reject what they should, and say where they are wrong.
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/grammar_support.hpp"

using inlay::Error;
using inlay::Fault;
using inlay::Grammar;
using support::accepts;

namespace {

bool is_valid(const std::string& rules) {
  try {
    return bool(Grammar::gbnf(rules));
  } catch (const Error& error) {
    CHECK(error.code() == inlay::Errc::argument);
    return false;
  }
}

// The place that the error names.
std::string place_of_error(const std::string& rules) {
  try {
    Grammar::gbnf(rules);
  } catch (const Error& error) {
    return error.where();
  }
  return "none";
}

void check_case(const support::Json& test, const std::filesystem::path& folder) {
  INFO(test.dump());
  if (test.contains("valid_grammar")) {
    CHECK(is_valid(test["grammar_text"]) == test["valid_grammar"].get<bool>());
    return;
  }
  const std::string rules = test.contains("grammar") ? support::read(folder / test["grammar"].get<std::string>())
                                                     : test["grammar_text"].get<std::string>();
  const std::string text = test["text_input"];
  inlay::text::GrammarState state(Grammar::gbnf(rules));
  const bool follows = state.accept(text);
  CHECK(follows == test["prefix_ok"].get<bool>());
  CHECK((follows && state.complete()) == test["accept"].get<bool>());
}

}  // namespace

TEST_CASE("GBNF grammars accept the texts that they describe") {
  for (const auto& folder : support::folders("schema/gbnf")) {
    const auto cases = support::read_lines(folder / "cases.jsonl");
    for (const auto& test : cases) check_case(test, folder);
    support::count("gbnf", cases.size());
  }
  for (const auto& folder : support::folders("fixtures/schema/gbnf")) {
    const auto cases = support::read_lines(folder / "cases.jsonl");
    for (const auto& test : cases) check_case(test, folder);
    support::count("gbnf", cases.size());
  }
}

TEST_CASE("A text is read in any portions") {
  const Grammar grammar = Grammar::gbnf("root ::= item (\", \" item)*\nitem ::= [a-z]+ | \"(\" root \")\"");
  const std::string text = "ab, (c, (d), e), f";
  for (std::size_t size = 1; size <= text.size(); ++size) {
    inlay::text::GrammarState state(grammar);
    for (std::size_t at = 0; at < text.size(); at += size)
      REQUIRE(state.accept(std::string_view(text).substr(at, size)));
    CHECK(state.complete());
    CHECK_FALSE(state.accept(")"));
    CHECK(state.complete());  // what cannot follow changes nothing
  }
}

TEST_CASE("Characters are read byte by byte") {
  const Grammar grammar = Grammar::gbnf("root ::= [\xC3\xA4-\xF0\x9F\x98\x80]{2}");
  inlay::text::GrammarState state(grammar);
  CHECK(state.accept("\xF0"));
  CHECK(state.accept("\x9F\x98"));
  CHECK_FALSE(state.accept("\x81"));  // beyond the last of the range
  CHECK(state.accept("\x80\xC3"));
  CHECK(state.accept("\xA4"));
  CHECK(state.finished());
}

TEST_CASE("Counted repetitions nest") {
  const Grammar grammar = Grammar::gbnf("root ::= (\"a\"{2,3} \"b\"?){2}");
  CHECK(accepts(grammar, "aaaa"));
  CHECK(accepts(grammar, "aaabaa"));
  CHECK(accepts(grammar, "aabaaab"));
  CHECK_FALSE(accepts(grammar, "aaa"));
  CHECK_FALSE(accepts(grammar, "aabaabaa"));
  CHECK(accepts(Grammar::gbnf("root ::= (\"a\"?){3} \"b\""), "ab"));
  CHECK(accepts(Grammar::gbnf("root ::= (\"a\"*){2,100000000} \"b\""), "aaaab"));
}

TEST_CASE("Errors in rules name their place") {
  CHECK(place_of_error("root ::= \"a\"\nx ::= \"b\" )") == "2:11");
  CHECK(place_of_error("root ::= a\n") == "1:11");
  CHECK(place_of_error("root ::= [b-a]") == "1:14");
  CHECK(place_of_error("root ::= list | \"y\"\nlist ::= \"x\"? list \"z\" | \"w\"") == "list");
}
