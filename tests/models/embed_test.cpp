// Proves: decoders embed texts as the original implementation does, of any length, and beside what sessions do.
#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "gguf/write.hpp"
#include "inlay/gguf.hpp"
#include "inlay/inlay.h"
#include "inlay/inlay.hpp"
#include "tests/models/golden.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/models.hpp"

namespace {

using inlay::Pooling;
using Tokens = std::vector<inlay::TokenId>;
using Values = std::vector<float>;

std::string path_of(const std::string& name) { return (support::data() / "embed" / (name + ".gguf")).string(); }

struct Text {
  std::string model, text;
  Tokens tokens;
  Values last, mean;
};

std::vector<Text> texts() {
  std::vector<Text> all;
  for (const auto* name : {"qwen3_embedding", "mistral_embedding", "qwen2_both_ways"}) {
    const auto j = nlohmann::json::parse(support::read(support::data() / "embed" / (std::string(name) + ".json")));
    for (const auto& c : j["cases"])
      all.push_back({path_of(name), c["text"], c["tokens"], c["last"].get<Values>(), c["mean"].get<Values>()});
  }
  return all;
}

Values raw(const inlay::Model& model, const auto& text, Pooling pooling) {
  return model.embed(text, {.pooling = pooling, .normalize = false}).values;
}

TEST_CASE("decoders embed as the original implementation does on every instruction set") {
  for (const auto& isa : support::instruction_sets())
    for (const auto& text : texts()) {
      INFO(text.model << ", " << text.tokens.size() << " tokens on " << isa);
      inlay::LoadOptions options{.threads = 2, .isa = isa};
      options.keys = options.values = inlay::CacheType::f32;
      const auto model = inlay::Model::load(text.model, options);
      CHECK(model.tokenize(text.text, {.specials = true}) == text.tokens);
      CHECK(support::largest_difference(raw(model, text.text, Pooling::last), text.last) <= 1e-4);
      CHECK(support::largest_difference(raw(model, text.tokens, Pooling::mean), text.mean) <= 1e-4);
      support::count("embed", 1);
    }
}

TEST_CASE("the file says how a decoder's rows are pooled, or the caller must") {
  const auto qwen = inlay::Model::load(path_of("qwen3_embedding"));
  const auto embedding = qwen.embed("TEXT");
  CHECK(embedding.rows() == 1);
  CHECK(embedding.values == qwen.embed("TEXT", {.pooling = Pooling::last}).values);
  CHECK(embedding.values != qwen.embed("TEXT", {.pooling = Pooling::mean}).values);
  double length = 0;
  for (const float x : embedding.values) length += double(x) * x;
  CHECK(std::abs(length - 1) < 1e-6);

  const auto mistral = inlay::Model::load(path_of("mistral_embedding"));
  CHECK(mistral.embed("TEXT", {.pooling = Pooling::mean}).rows() == 1);
  try {
    mistral.embed("TEXT");
    FAIL("no pooling");
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::argument);
    CHECK(error.where() == "llama.pooling_type");
  }
  // A reranker's is of the row that it judges.
  const auto judge = inlay::Model::load((support::data() / "rank" / "qwen3.gguf").string());
  CHECK(judge.embed("TEXT").values == judge.embed("TEXT", {.pooling = Pooling::last}).values);
}

// The same file with one more key.
void add_flag(const std::string& path, const std::string& out, const std::string& key, bool value) {
  const auto file = inlay::gguf::File::open(path);
  std::ofstream stream(out, std::ios::binary);
  inlay::gguf::Writer writer([&](std::span<const std::byte> bytes) {
    stream.write(reinterpret_cast<const char*>(bytes.data()), std::streamsize(bytes.size()));
  });
  for (const auto& one : file.keys()) writer.copy(one);
  writer.key(key, value);
  for (const auto& tensor : file.tensors()) writer.tensor(tensor.name, inlay::gguf::Type(tensor.type), tensor.shape);
  for (const auto& tensor : file.tensors()) writer.data(tensor.data);
  writer.finish();
}

TEST_CASE("a decoder that sees later tokens embeds and writes nothing, and where that is not known, it is refused") {
  const auto model = inlay::Model::load(path_of("qwen2_both_ways"));
  CHECK(model.info().encoder);
  CHECK(model.embed("TEXT").values == model.embed("TEXT", {.pooling = Pooling::last}).values);
  CHECK_THROWS_AS(model.session(), inlay::Error);

  const support::Folder folder;
  add_flag((support::data() / "arch" / "seed_oss.gguf").string(), folder.file("both.gguf"), "seed_oss.attention.causal",
           false);
  try {
    inlay::Model::load(folder.file("both.gguf"));
    FAIL("not known");
  } catch (const inlay::Error& error) {
    CHECK(error.code() == inlay::Errc::unsupported);
    CHECK(error.where() == "seed_oss.attention.causal");
  }
}

TEST_CASE("a row of a token is the same whatever comes after it, and however the text is read") {
  const auto model = inlay::Model::load(path_of("qwen3_embedding"));
  const auto tokens = texts()[3].tokens;
  REQUIRE(tokens.size() > 512);  // a step's
  const auto rows = model.embed(tokens, {.pooling = Pooling::none, .normalize = false});
  CHECK(rows.rows() == tokens.size());
  CHECK(rows.width == std::size_t(model.info().width));
  const auto row = [&](std::size_t i) { return Values(rows[i].begin(), rows[i].end()); };
  CHECK(raw(model, tokens, Pooling::cls) == row(0));
  for (const std::size_t length : {1, 2, 511, 512, 513, int(tokens.size())})
    CHECK(raw(model, Tokens(tokens.begin(), tokens.begin() + std::ptrdiff_t(length)), Pooling::last) ==
          row(length - 1));
  CHECK_THROWS_AS(model.embed(Tokens(1025, 5)), inlay::Error);  // more than its context
}

TEST_CASE("several threads embed beside a session, and change nothing of it") {
  const auto model = support::load_nano();
  const auto write = [&] {
    auto session = model.session();
    return session.generate("Once upon a time", inlay::Sampler::greedy(), {.tokens = 32}).text();
  };
  const auto embed = [&] { return raw(model, "The cat sat on the mat.", Pooling::last); };
  const auto text = write();
  const auto row = embed();
  std::atomic<int> right = 0;
  {
    std::vector<std::jthread> team;
    for (int i = 0; i < 3; ++i)
      team.emplace_back([&] {
        for (int n = 0; n < 4; ++n) right += embed() == row;
      });
    right += write() == text;
  }
  CHECK(right == 13);
}

TEST_CASE("the pages of a text are free when it is embedded, and where there are too few, all is as before") {
  const auto plan = inlay::Model::plan(support::nano());
  const auto model = support::load_nano({.cache_bytes = std::size_t(plan.segment)});
  const auto fitting = std::size_t(plan.segment / plan.page) * 32;
  const auto first = raw(model, Tokens(fitting, 300), Pooling::last);
  if (fitting < std::size_t(model.info().context))
    CHECK_THROWS_AS(raw(model, Tokens(fitting + 1, 300), Pooling::last), inlay::Error);
  CHECK(raw(model, Tokens(fitting, 300), Pooling::last) == first);
}

TEST_CASE("what fills texts in embeds none, and C has the same embeddings") {
  const auto filling = inlay::Model::load((support::data() / "arch" / "llada.gguf").string());
  CHECK_THROWS_AS(filling.embed(Tokens{5, 6}, {.pooling = Pooling::mean}), inlay::Error);

  const auto path = path_of("qwen3_embedding");
  inlay_error error;
  inlay_model* model = nullptr;
  REQUIRE(inlay_model_load(inlay_string(path.c_str()), nullptr, &model, &error) == INLAY_OK);
  const auto expected = inlay::Model::load(path).embed("TEXT").values;
  Values row(expected.size());
  std::size_t count = 0;
  CHECK(inlay_embed(model, inlay_string("TEXT"), INLAY_POOLING_MODEL, 1, row.data(), row.size(), &count, &error) ==
        INLAY_OK);
  CHECK(row == expected);
  inlay_model_free(model);
}

}  // namespace
