// Pre-tokenizers by what they do: their steps, spelled as one text, looked up in a table.
#include <fmt/format.h>

#include "conversion/vocabulary.hpp"

namespace inlay::inline v0::conversion {
namespace {

#define CONTRACTION R"((?i:'s|'t|'re|'ve|'m|'ll|'d))"
#define UPPER R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])"
#define LOWER R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])"
#define SPACES R"(|\s*[\r\n]+|\s+(?!\S)|\s+)"

struct Row {
  std::string_view steps;  // one a line
  bool ignores_merges;     // whole words that are tokens are taken as they are
  std::string_view name;
};

// clang-format off
constexpr std::string_view llama3 =
    "split " CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES "\nbytes\n";
constexpr std::string_view qwen2 =
    "split " CONTRACTION R"(|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*)" SPACES "\nbytes\n";
constexpr std::string_view gpt4o =
    R"(split [^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER "+" CONTRACTION R"(?|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER "*" CONTRACTION
    R"(?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES "\nbytes\n";
constexpr std::string_view tekken =
    R"(split [^\r\n\p{L}\p{N}]?)" UPPER "*" LOWER R"(+|[^\r\n\p{L}\p{N}]?)" UPPER "+" LOWER
    R"(*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*)" SPACES "\nbytes\n";
// clang-format on

constexpr Row rows[] = {
    {llama3, true, "llama-bpe"}, {llama3, false, "dbrx"},  {qwen2, false, "qwen2"},
    {gpt4o, false, "gpt-4o"},    {tekken, true, "tekken"}, {"digits\nwords\n", false, "smollm"},
    {"words\n", false, "gpt-2"},
};

#undef CONTRACTION
#undef UPPER
#undef LOWER
#undef SPACES

bool flag(const Json& step, std::string_view name, bool otherwise) {
  const Json* value = step.find(name);
  const auto* given = value ? value->as<bool>() : nullptr;
  return given ? *given : otherwise;
}

void spell(const Json& step, std::string& out) {
  const Json* type = step.find("type");
  const auto kind = type ? type->text() : std::string_view();
  if (kind == "Sequence") {
    if (const Json* steps = step.find("pretokenizers")) {
      for (const Json& one : steps->items()) spell(one, out);
    }
  } else if (kind == "Split") {
    const Json* pattern = step.find("pattern");
    const Json* regex = pattern ? pattern->find("Regex") : nullptr;
    out += fmt::format("split {}\n", regex ? regex->text() : "a fixed text");
  } else if (kind == "ByteLevel") {
    out += flag(step, "use_regex", true) ? "words\n" : "bytes\n";
  } else if (kind == "Digits" && flag(step, "individual_digits", false)) {
    out += "digits\n";
  } else {
    out += fmt::format("{}\n", kind);
  }
}

}  // namespace

std::string pre_tokenizer_name(const Json& tokenizer) {
  std::string steps;
  if (const Json* first = tokenizer.find("pre_tokenizer")) spell(*first, steps);
  const Json* model = tokenizer.find("model");
  const bool ignores_merges = model && flag(*model, "ignore_merges", false);
  for (const Row& row : rows) {
    if (row.steps == steps && row.ignores_merges == ignores_merges) return std::string(row.name);
  }
  throw Error(Errc::unsupported,
              fmt::format("tokenizer.json: the pre_tokenizer is none that is known: {}", steps.substr(0, 300)),
              Fault::unsupported, "pre_tokenizer");
}

}  // namespace inlay::inline v0::conversion
