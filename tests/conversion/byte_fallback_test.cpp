// Proves: a vocabulary that a folder has as merges only tokenizes as the original does.
#include <nlohmann/json.hpp>

#include "inlay/inlay.hpp"
#include "tests/conversion/helpers.hpp"

using nlohmann::json;
using support::Work;

namespace {

std::string data_of(const std::string& name) {
  return support::read(support::data() / "conversion" / "byte_fallback" / name);
}

inlay::Model converted(const Work& work, const std::string& tokenizer) {
  work.copy("mistral");
  std::filesystem::remove(work.file("tokenizer.model"));
  std::filesystem::remove(work.file("added_tokens.json"));
  work.write("tokenizer.json", tokenizer);
  inlay::convert(work.path(), work.file("out.gguf"));
  return inlay::Model::load(work.file("out.gguf"), {.vocabulary_only = true});
}

}  // namespace

TEST_CASE("pieces without a tokenizer.model are put together in the order of the merges") {
  const Work work;
  const auto model = converted(work, data_of("tokenizer.json"));
  for (const auto& test : json::parse(data_of("cases.json"))) {
    const auto text = test["text"].get<std::string>();
    INFO(text);
    CHECK(model.tokenize(text, {.parse_specials = true}) == test["tokens"].get<std::vector<inlay::TokenId>>());
  }
  CHECK(model.tokenize("a", {.specials = true}).front() == 1);
}

TEST_CASE("where nothing puts a mark before a text, none is put there") {
  auto tokenizer = json::parse(data_of("tokenizer.json"));
  tokenizer["normalizer"] = {{"type", "Replace"}, {"pattern", {{"String", " "}}}, {"content", "▁"}};
  const Work work;
  const auto model = converted(work, tokenizer.dump());
  CHECK(model.detokenize(model.tokenize("dogs")) == "dogs");
  CHECK(model.tokenize("dogs") != model.tokenize(" dogs"));
}
