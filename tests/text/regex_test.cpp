// Patterns: the same texts match as for an independent engine.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <memory>
#include <random>

#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/text/grammar_support.hpp"

using inlay::Error;
using inlay::Fault;
using inlay::Grammar;
using support::accepts;

namespace {

// Whether PCRE2 matches the whole text.
bool matches(const std::string& pattern, const std::string& text) {
  int error = 0;
  PCRE2_SIZE offset = 0;
  const std::unique_ptr<pcre2_code, void (*)(pcre2_code*)> code(
      pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                    PCRE2_UTF | PCRE2_ANCHORED | PCRE2_ENDANCHORED | PCRE2_DOLLAR_ENDONLY, &error, &offset, nullptr),
      pcre2_code_free);
  REQUIRE(code);
  const std::unique_ptr<pcre2_match_data, void (*)(pcre2_match_data*)> data(pcre2_match_data_create(1, nullptr),
                                                                            pcre2_match_data_free);
  return pcre2_match(code.get(), reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), 0, 0, data.get(), nullptr) >=
         0;
}

Fault fault_of(const std::string& pattern) {
  try {
    Grammar::regex(pattern);
  } catch (const Error& error) {
    return error.fault();
  }
  return Fault::none;
}

constexpr const char* patterns[] = {"abc",
                                    "a*b+c?",
                                    "(a|b)*abb",
                                    "[a-c]{2,4}",
                                    "(ab|a)(bc|c)",
                                    "[^ab]c{3}",
                                    "a{2,}b{0,2}",
                                    "(?:a(?:b|c)?){2,3}",
                                    "(a*)*b",
                                    "(a|a|aa)*b",
                                    "^a.c$",
                                    "\\d{2}|\\w-[ \\n]",
                                    "[\\d\\-x]+",
                                    "\xC3\xA4+[\xC3\xA0-\xC3\xBF]?",
                                    "(|a|b)(c|)",
                                    "a{0}b",
                                    "((a{1,2}){2}b){1,2}",
                                    "[]a|b",
                                    "\\x61\\.\\u0062"};

std::string random_text(std::mt19937& random) {
  static constexpr const char* letters[] = {"a", "a", "b", "b", "c",  "c",        "x",       "-",
                                            ".", "1", "7", " ", "\n", "\xC3\xA4", "\xC3\xBF"};
  std::string out;
  for (std::size_t size = random() % 9; size > 0; --size) out += letters[random() % std::size(letters)];
  return out;
}

}  // namespace

TEST_CASE("Patterns match what PCRE2 matches") {
  std::mt19937 random(1);
  std::size_t cases = 0, matched = 0;
  for (const std::string pattern : patterns) {
    if (pattern == "[]a|b" || pattern.find("\\u") != std::string::npos) continue;  // PCRE2 reads these otherwise
    const Grammar grammar = Grammar::regex(pattern);
    for (int round = 0; round < 400; ++round, ++cases) {
      const std::string text = random_text(random);
      INFO(pattern << " on " << text);
      const bool expected = matches(pattern, text);
      matched += expected;
      REQUIRE(accepts(grammar, text) == expected);
    }
  }
  CHECK(matched > 100);
  support::count("regex", cases);
}

TEST_CASE("Random sentences of a pattern match it") {
  std::mt19937 random(2);
  const support::Vocabulary vocabulary({"aa", "ab", "abb", "bc", "ccc", "12", "\xC3\xA4\xC3\xA4", "b", "-"});
  const inlay::text::TokenTrie trie(vocabulary.views);
  for (const std::string pattern : patterns) {
    if (pattern == "[]a|b" || pattern.find("\\u") != std::string::npos) continue;
    const Grammar grammar = Grammar::regex(pattern);
    for (int round = 0; round < 30; ++round) {
      const std::string text = support::random_sentence(grammar, vocabulary, trie, random);
      INFO(pattern << " gave " << text);
      if (!text.empty()) REQUIRE(matches(pattern, text));
    }
  }
}

TEST_CASE("Patterns are read as ECMAScript has them") {
  CHECK(accepts(Grammar::regex("\\x61\\.\\u0062\\u{1F600}"), "a.b\xF0\x9F\x98\x80"));
  CHECK(accepts(Grammar::regex("\\ud83d\\ude00"), "\xF0\x9F\x98\x80"));
  CHECK(accepts(Grammar::regex("[]a|b"), "b"));          // an empty class matches nothing
  CHECK(accepts(Grammar::regex("[^]{2}"), "\n\""));      // and its opposite everything
  CHECK(accepts(Grammar::regex("a{,2}{x"), "a{,2}{x"));  // braces that are no quantifier
  CHECK(accepts(Grammar::regex("\\p{Lu}\\P{L}[\\p{Nd}]"), "\xC3\x84-7"));
  CHECK(accepts(Grammar::regex("(?<year>\\d+?)\\cJ"), "12\n"));
  CHECK_FALSE(accepts(Grammar::regex("."), "\n"));
}

TEST_CASE("What a grammar cannot express of patterns is refused") {
  for (const char* pattern :
       {"(?=a)b", "(?<!a)b", "(a)\\1", "\\bword\\b", "a(?i)b", "a^b", "(a$)*b", "\\p{Nothing}", "\\q"}) {
    INFO(pattern);
    CHECK(fault_of(pattern) == Fault::unsupported);
  }
  for (const char* pattern : {"(a", "a)", "[a", "*a", "a**", "a+?+", "a{2,1}", "[b-a]", "a\\", "\\u12", "\\c1", "^*"}) {
    INFO(pattern);
    CHECK(fault_of(pattern) == Fault::bad_value);
  }
  CHECK(fault_of(std::string(300, '(') + "a" + std::string(300, ')')) == Fault::limit);
  CHECK(fault_of("a{99999999999999999999}") == Fault::limit);
  CHECK(fault_of("a{100000000}") == Fault::limit);  // no text that long is ever wanted
  CHECK(fault_of("\xFF") == Fault::bad_string);
  CHECK(fault_of("[]") == Fault::inconsistent);
}
