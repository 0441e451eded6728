// Proves: a described struct becomes a schema, and is filled from what was written under it, whole or in part.
#include <nlohmann/json.hpp>

#include "tests/support/catch.hpp"
#include "tests/support/models.hpp"

namespace {

enum class Colour { red, green };

struct Line {
  std::string item;
  int count = 0;
  std::optional<double> price;
};

struct Invoice {
  std::string number;
  std::uint8_t copies = 0;
  bool paid = false;
  Colour colour = Colour::red;
  std::vector<Line> lines;
};

struct Tree {
  std::string name;
  std::vector<Tree> children;
};

}  // namespace

template <>
inline constexpr auto inlay::names<Colour> =
    std::array{std::pair{"red", Colour::red}, std::pair{"green", Colour::green}};
template <>
inline constexpr auto inlay::fields<Line> = std::tuple(inlay::field("item", &Line::item, R"("maxLength":8)"),
                                                       inlay::field("count", &Line::count, R"("minimum":1)"),
                                                       inlay::field("price", &Line::price));
template <>
inline constexpr auto inlay::fields<Invoice> =
    std::tuple(inlay::field("number", &Invoice::number, R"("pattern":"^[A-Z][0-9]{3}$")"),
               inlay::field("copies", &Invoice::copies), inlay::field("paid", &Invoice::paid),
               inlay::field("colour", &Invoice::colour), inlay::field("lines", &Invoice::lines, R"("maxItems":2)"));
template <>
inline constexpr auto inlay::fields<Tree> = std::tuple(inlay::field("name", &Tree::name),
                                                       inlay::field("children", &Tree::children));

TEST_CASE("a described struct has a schema") {
  const auto schema = inlay::Grammar::json_schema(inlay::schema_of<Invoice>());
  const std::string good =
      R"({"number":"A123","copies":2,"paid":true,"colour":"green","lines":[{"item":"tea","count":1,"price":null}]})";
  CHECK(schema.match(good) == inlay::Match::whole);
  const auto refuses = [&](const std::string& from, const std::string& to) {
    auto bad = good;
    bad.replace(bad.find(from), from.size(), to);
    return schema.match(bad) == inlay::Match::none;
  };
  CHECK(refuses("A123", "a123"));
  CHECK(refuses("2", "256"));
  CHECK(refuses("2", "-1"));
  CHECK(refuses("green", "blue"));
  CHECK(refuses("tea", "much too long"));
  CHECK(refuses("1,", "0,"));
  CHECK(refuses(R"("paid":true,)", ""));
  const auto tree = inlay::Grammar::json_schema(inlay::schema_of<Tree>());
  CHECK(tree.match(R"({"name":"a","children":[{"name":"b","children":[]}]})") == inlay::Match::whole);
  CHECK(tree.match(R"({"name":"a","children":[1)") == inlay::Match::none);
}

TEST_CASE("a struct is filled from JSON, as far as that goes") {
  const std::string text =
      R"( {"number" : "A\u00e9\ud83d\ude00", "copies":7,"paid":true,"colour":"green","lines":[{"item":"t","count":-3e2,"price":1.5},{"item":"u","count":2,"price":null}]} )";
  const auto invoice = inlay::from_json<Invoice>(text);
  CHECK(invoice.number == "A\u00e9\U0001f600");
  CHECK(invoice.copies == 7);
  CHECK(invoice.paid);
  CHECK(invoice.colour == Colour::green);
  REQUIRE(invoice.lines.size() == 2);
  CHECK(invoice.lines[0].count == -300);
  CHECK(invoice.lines[0].price == 1.5);
  CHECK_FALSE(invoice.lines[1].price);
  const auto tree = inlay::from_json<Tree>(R"({"name":"a","children":[{"name":"b","children":[{"name":"c)");
  REQUIRE((tree.children.size() == 1 && tree.children[0].children.size() == 1));
  CHECK(tree.children[0].children[0].name == "c");
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {  // each beginning gives values of the whole, or none
    const auto part = inlay::from_json<Invoice>(text.substr(0, cut));
    CAPTURE(cut, part.number);
    CHECK(invoice.number.starts_with(part.number));
    CHECK((part.copies == 7 || part.copies == 0));
    CHECK(part.lines.size() <= 2);
    if (!part.lines.empty()) CHECK((part.lines[0].count == -300 || part.lines[0].count == 0));
  }
  for (const char* bad : {"{]", "[1 2]", "{\"a\" 1}", "truth", "{} {}", "\"\\x\" "}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(inlay::typed::Json::read(bad), inlay::Error);
  }
  CHECK_THROWS_AS(inlay::typed::Json::read(std::string(100000, '[')), inlay::Error);
}

TEST_CASE("a model is asked for a value, and shows it as it grows") {
  const auto model = support::load_nano();
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    auto session = model.session();
    std::size_t shown = 0, most = 0;
    const auto answer =
        session.ask<Invoice>("An invoice:", {.temperature = 1.5f, .seed = seed}, {.tokens = 300},
                             [&](const Invoice& part) { ++shown, most = std::max(most, part.lines.size()); });
    INFO(answer.text);
    if (!answer.whole) continue;
    const auto json = nlohmann::json::parse(answer.text);
    CHECK(json.at("number") == answer->number);
    CHECK(json.at("lines").size() == answer->lines.size());
    CHECK(most == answer->lines.size());
    CHECK(shown > 3);
  }
  inlay::Chat chat(model);
  const auto cut = chat.ask<Line>("Hello", inlay::Sampler::greedy(), {.tokens = 2});
  CHECK_FALSE(cut.whole);
  CHECK(cut.finish == inlay::Finish::token_limit);
}
