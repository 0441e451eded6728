// Every golden case of the tokenizer fixtures: encoding, decoding, single pieces, streaming, facts of the vocabulary.
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/support/catch.hpp"
#include "tests/support/fixtures.hpp"
#include "text/stream_decoder.hpp"
#include "text/vocabulary.hpp"

namespace {

using namespace inlay;
using nlohmann::json;
namespace fs = std::filesystem;
using Ids = text::TokenIds;

std::string from_hex(const std::string& hex) {
  const auto digit = [](char c) { return c <= '9' ? c - '0' : c - 'a' + 10; };
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) bytes += static_cast<char>(digit(hex[i]) * 16 + digit(hex[i + 1]));
  return bytes;
}

// The field `name`, or its bytes where the case has them in hex.
std::string text_of(const json& test, const std::string& name) {
  const auto hex = test.find(name + "_hex");
  return hex != test.end() ? from_hex(*hex) : test.at(name).get<std::string>();
}

std::vector<json> lines(const fs::path& path) {
  std::vector<json> rows;
  std::istringstream in(support::read(path));
  for (std::string line; std::getline(in, line);) rows.push_back(json::parse(line));
  return rows;
}

// The vocabulary that the cases NAME.jsonl belong to: beside them, or in the model that the repository has.
fs::path vocabulary_path(const fs::path& folder, const std::string& name) {
  const fs::path beside = folder / ("ggml-vocab-" + name + ".gguf");
  return fs::exists(beside) ? beside : support::data() / "../../examples/models" / (name + "-q8_0.gguf");
}

// Calls run(name, cases, file) for each vocabulary of the fixtures that has a file NAME + `ending`.
template <class Run>
void for_each_vocabulary(const std::string& ending, Run run) {
  for (const auto& folder : support::folders("tokenizer")) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string name = entry.path().stem().string();
      if (entry.path().extension() != ".jsonl" || name.find('.') != name.npos) continue;
      const fs::path cases = folder / (name + ending);
      if (fs::exists(cases)) run(name, cases, gguf::File::open(vocabulary_path(folder, name).string()));
    }
  }
}

std::string decoded(const text::Tokenizer& tokenizer, const json& test) {
  if (test.at("kind") == "piece") {
    std::string piece;
    tokenizer.append_piece(test.at("ids").at(0), test.at("render_special"), piece);
    return piece;
  }
  return tokenizer.decode(test.at("ids").get<Ids>(), {test.at("remove_special"), test.at("unparse_special")});
}

void check_stream(const text::Tokenizer& tokenizer, const json& test) {
  text::StreamDecoder stream(tokenizer, true);
  std::size_t at = 0;
  for (const text::TokenId id : test.at("ids")) CHECK(stream.push(id) == test.at("chunks").at(at++).get<std::string>());
  CHECK(stream.flush() == test.at("flush").get<std::string>());
}

}  // namespace

TEST_CASE("text becomes the ids of the vocabulary's own tokenizer") {
  for_each_vocabulary(".jsonl", [](const std::string& name, const fs::path& path, const gguf::File& file) {
    const auto tokenizer = text::Tokenizer::from(file);
    const auto cases = lines(path);
    for (const json& test : cases) {
      INFO(name << ' ' << test.at("id"));
      const text::EncodeOptions options{test.at("add_special"), test.at("parse_special")};
      CHECK(tokenizer->encode(text_of(test, "text"), options) == test.at("ids").get<Ids>());
    }
    support::count("tokenizer", cases.size());
  });
}

TEST_CASE("ids become text again, whole, one by one, and as a stream") {
  for_each_vocabulary(".detok.jsonl", [](const std::string& name, const fs::path& path, const gguf::File& file) {
    const auto tokenizer = text::Tokenizer::from(file);
    const auto cases = lines(path);
    for (const json& test : cases) {
      INFO(name << ' ' << test.dump());
      if (test.at("kind") == "stream") {
        check_stream(*tokenizer, test);
      } else {
        CHECK(decoded(*tokenizer, test) == text_of(test, test.at("kind") == "piece" ? "bytes" : "text"));
      }
    }
    support::count("tokenizer", cases.size());
  });
}

TEST_CASE("special ids, flags and endings are those of the fixtures") {
  for_each_vocabulary(".facts.json", [](const std::string& name, const fs::path& path, const gguf::File& file) {
    INFO(name);
    const json facts = json::parse(support::read(path));
    const text::Vocabulary vocabulary(file, std::pmr::new_delete_resource());
    const auto tokenizer = text::Tokenizer::from(file);
    CHECK(tokenizer->size() == facts.at("n_tokens"));
    CHECK(tokenizer->bos() == facts.at("bos"));
    CHECK(tokenizer->eos() == facts.at("eos"));
    CHECK(tokenizer->eot() == facts.at("eot"));
    CHECK(tokenizer->padding() == facts.at("pad"));
    CHECK(vocabulary.separator == facts.at("sep"));
    CHECK(vocabulary.mask == facts.at("mask"));
    CHECK(vocabulary.fim_prefix == facts.at("fim_pre"));
    CHECK(vocabulary.fim_suffix == facts.at("fim_suf"));
    CHECK(vocabulary.fim_middle == facts.at("fim_mid"));
    CHECK(tokenizer->adds_bos() == (facts.at("add_bos") == 1));
    CHECK(tokenizer->adds_eos() == (facts.at("add_eos") == 1));
    CHECK(vocabulary.adds_separator == (facts.at("add_sep") == 1));
    const auto& endings = vocabulary.end_of_generation;
    CHECK(Ids(endings.begin(), endings.end()) == facts.at("eog").get<Ids>());
    std::size_t controls = 0;
    for (text::TokenId id = 0; id < tokenizer->size(); ++id) controls += tokenizer->is_control(id);
    CHECK(controls == facts.at("n_control"));
    for (const auto& [id, text] : facts.at("special_texts").items())
      CHECK(tokenizer->token_text(std::stoi(id)) == text.get<std::string>());
    support::count("tokenizer", 1);
  });
}

TEST_CASE("two texts become one input as BERT asks: CLS first SEP second SEP") {
  for_each_vocabulary(".jsonl", [](const std::string& name, const fs::path&, const gguf::File& file) {
    const auto tokenizer = text::Tokenizer::from(file);
    const auto first = tokenizer->encode("a question", {}), second = tokenizer->encode("its answer", {});
    Ids expected = tokenizer->adds_bos() ? Ids{tokenizer->bos()} : Ids{};
    expected.insert(expected.end(), first.begin(), first.end());
    if (name == "bert-bge") expected.push_back(102);
    expected.insert(expected.end(), second.begin(), second.end());
    if (name == "bert-bge") expected.push_back(102);
    INFO(name);
    if (tokenizer->adds_eos()) return;
    const auto pair = tokenizer->encode_pair("a question", "its answer");
    CHECK(pair.ids == expected);
    CHECK(pair.second == expected.size() - second.size() - (name == "bert-bge" ? 1 : 0));
  });
}
