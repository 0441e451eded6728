// Proves: a grammar holds for what is generated, whatever the model would rather say.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Finish;
using inlay::Grammar;

TEST_CASE("what is generated under a schema is valid under it") {
  const auto model = support::load_nano();
  const auto schema = Grammar::json_schema(R"({"type":"object","properties":{"name":{"type":"string","maxLength":12},
    "age":{"type":"integer","minimum":0,"maximum":120},"tags":{"type":"array","items":{"enum":["a","b"]},"maxItems":3}},
    "required":["name","age","tags"],"additionalProperties":false})");
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto session = model.session();
    auto reply = session.generate("Tell me about Emma.", {.grammar = schema, .temperature = 1.5f, .seed = seed},
                                  {.tokens = 200});
    const auto text = reply.text();
    INFO(text);
    REQUIRE((reply.finish() == Finish::constraint_done || reply.finish() == Finish::end_of_text));
    const auto json = nlohmann::json::parse(text);
    CHECK((json.at("age").get<int>() >= 0 && json.at("age").get<int>() <= 120));
    CHECK(json.at("tags").size() <= 3);
    CHECK(json.size() == 3);
  }
}

TEST_CASE("a text is told from a beginning and from what is neither") {
  using inlay::Match;
  const auto pair = Grammar::json_schema(R"({"type":"array","items":{"type":"integer"},"minItems":2,"maxItems":2})");
  CHECK(pair.match("[1, 2]") == Match::whole);
  CHECK(pair.match("[1,") == Match::prefix);
  CHECK(pair.match("[1]") == Match::none);
  CHECK(pair.match("") == Match::prefix);
  CHECK(Grammar::regex("a*").match("") == Match::whole);
  CHECK(Grammar().match("anything") == Match::whole);
}

TEST_CASE("a choice is one of its texts") {
  const auto model = support::load_nano();
  const std::string_view texts[] = {"north", "northeast", "south"};
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    auto session = model.session();
    auto reply = session.generate("Which way?", {.grammar = Grammar::choice(texts), .temperature = 2, .seed = seed},
                                  {.tokens = 30});
    const auto text = reply.text();
    INFO(text);
    CHECK(std::count(std::begin(texts), std::end(texts), std::string_view(text)) == 1);
  }
}

}  // namespace
