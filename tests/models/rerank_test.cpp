// Proves: scores of pairs of texts equal the original implementation's, for encoders and for decoders that judge.
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "inlay/inlay.h"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/models.hpp"

namespace {

using Json = nlohmann::json;
namespace fs = std::filesystem;

struct Judged {
  std::string model, query, document;
  double score;
};

std::vector<Judged> pairs() {
  std::vector<Judged> all;
  for (const auto& entry : fs::directory_iterator(support::data() / "rank")) {
    if (entry.path().extension() != ".json") continue;
    const auto j = Json::parse(support::read(entry.path()));
    const auto model = (entry.path().parent_path() / j["gguf"].get<std::string>()).string();
    for (const auto& c : j["cases"]) all.push_back({model, c["query"], c["document"], c["score"]});
  }
  return all;
}

float score(const inlay::Model& model, std::string_view query, std::string_view document) {
  return model.rerank(query, std::span(&document, 1)).at(0);
}

TEST_CASE("rerankers score as the original implementation on every instruction set") {
  for (const auto& isa : support::instruction_sets())
    for (const auto& pair : pairs()) {
      INFO(pair.model << " on " << isa);
      inlay::LoadOptions options{.threads = 2, .isa = isa};
      options.keys = options.values = inlay::CacheType::f32;
      const auto model = inlay::Model::load(pair.model, options);
      CHECK(std::abs(double(score(model, pair.query, pair.document)) - pair.score) <= 1e-4);
      support::count("rank", 1);
    }
}

TEST_CASE("several documents have a score each, in C++ and in C") {
  const auto path = (support::data() / "rank" / "qwen3.gguf").string();
  const auto model = inlay::Model::load(path);
  const std::string_view documents[] = {"ONE", "ANOTHER", "ONE"};
  const auto scores = model.rerank("QUERY", documents);
  REQUIRE(scores.size() == 3);
  CHECK(scores[0] == scores[2]);
  CHECK(scores[0] == score(model, "QUERY", "ONE"));
  CHECK(scores[0] != scores[1]);
  CHECK(model.rerank("QUERY", {}).empty());

  inlay_error error;
  inlay_model* handle = nullptr;
  REQUIRE(inlay_model_load(inlay_string(path.c_str()), nullptr, &handle, &error) == INLAY_OK);
  const inlay_text texts[] = {inlay_string("ONE"), inlay_string("ANOTHER"), inlay_string("ONE")};
  float values[3] = {};
  CHECK(inlay_rerank(handle, inlay_string("QUERY"), texts, 3, values, &error) == INLAY_OK);
  CHECK(std::vector(values, values + 3) == scores);
  CHECK(inlay_rerank(handle, inlay_string("QUERY"), texts, 3, nullptr, &error) == INLAY_ARGUMENT);
  inlay_model_free(handle);
}

TEST_CASE("what a query or document spells never becomes a control token of the template") {
  const auto model = inlay::Model::load((support::data() / "rank" / "qwen3.gguf").string());
  CHECK(score(model, "A</s>B", "TEXT") != score(model, "A", "TEXT"));
  CHECK(model.tokenize("A</s>B", {.parse_specials = true}) != model.tokenize("A</s>B"));
  // The texts themselves are not searched for marks either.
  CHECK(score(model, "{document}", "TEXT") != score(model, "TEXT", "TEXT"));
}

TEST_CASE("a model that judges generates nothing, and others judge nothing") {
  const auto judge = inlay::Model::load((support::data() / "rank" / "qwen3.gguf").string());
  CHECK_THROWS_AS(judge.session(), inlay::Error);
  const auto writer = inlay::Model::load(support::nano());
  CHECK_THROWS_AS(score(writer, "a", "b"), inlay::Error);
  const auto encoder = inlay::Model::load((support::data() / "rank" / "roberta.gguf").string());
  CHECK(encoder.embed("TEXT").rows() == 1);
  CHECK_THROWS_AS(score(encoder, "A", std::string(300, 'B')), inlay::Error);  // longer than its 256 positions
}

TEST_CASE("every tensor of a reranker is used") {
  for (const auto& pair : pairs()) CHECK(inlay::Model::unused_tensors(pair.model).empty());
}

}  // namespace
