// The names of pre-tokenizers, from the pre_tokenizer of tokenizer.json files that models are published with.
#include <nlohmann/json.hpp>

#include "conversion/vocabulary.hpp"
#include "tests/conversion/helpers.hpp"

using namespace inlay::conversion;
using nlohmann::json;

namespace {

std::string name_of(const json& pre_tokenizer, bool ignore_merges = false) {
  const json tokenizer = {{"pre_tokenizer", pre_tokenizer}, {"model", {{"ignore_merges", ignore_merges}}}};
  return pre_tokenizer_name(parse_json(tokenizer.dump(), "tokenizer.json"));
}

json split(const std::string& expression) {
  return {{"type", "Sequence"},
          {"pretokenizers",
           {{{"type", "Split"}, {"pattern", {{"Regex", expression}}}, {"behavior", "Isolated"}, {"invert", false}},
            {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}}}}};
}

const std::string llama3 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string qwen2 =
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string o200k =
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|)"
    R"(\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";
const std::string tekken = R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|)"
                           R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|)"
                           R"(\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)";

}  // namespace

TEST_CASE("pre-tokenizers are found by their expressions") {
  CHECK(name_of(split(llama3), true) == "llama-bpe");
  CHECK(name_of(split(llama3), false) == "dbrx");
  CHECK(name_of(split(qwen2)) == "qwen2");
  CHECK(name_of(split(o200k)) == "gpt-4o");
  CHECK(name_of(split(tekken), true) == "tekken");
  const json words = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  CHECK(name_of(words) == "gpt-2");
  const json digits = {{"type", "Digits"}, {"individual_digits", true}};
  CHECK(name_of({{"type", "Sequence"}, {"pretokenizers", {digits, words}}}) == "smollm");
}

TEST_CASE("a pre-tokenizer that is not known is refused, not guessed") {
  CHECK_THROWS_AS(name_of(split("[a-z]+")), inlay::Error);
  CHECK_THROWS_AS(name_of(nullptr), inlay::Error);
  CHECK_THROWS_AS(name_of({{"type", "Metaspace"}}), inlay::Error);
}
