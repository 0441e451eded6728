// Tokens in the order of their ids, from the files that list them by text.
#include "conversion/vocabulary.hpp"

#include <fmt/format.h>

#include "conversion/sentencepiece_model.hpp"
#include "conversion/special_tokens.hpp"
#include "conversion/tokens.hpp"

namespace inlay::inline v0::conversion {
namespace {

// A token added to SentencePiece's; of phi3 only what is marked is special.
void set_added(Tokens& tokens, std::size_t id, const Json& token, bool by_looks) {
  std::string text(content_of(token));
  if (is_special(token) || (by_looks && looks_special(text))) {
    tokens.set(id, text, -1000.0f, control);
  } else {
    tokens.set(id, by_looks ? with_spaces(text) : text, -1000.0f, user_defined);
  }
}

std::optional<std::int64_t> number_of(std::string_view digits) {
  std::int64_t number = 0;
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return std::nullopt;
    number = 10 * number + (digit - '0');
  }
  return number;
}

void add_listed_tokens(const Folder& folder, const Family& family, const Json& tokenizer, Tokens& tokens) {
  const std::size_t count = tokens.texts.size();
  const Json by_text = folder.json("added_tokens.json");
  for (const Member& token : by_text.members()) {
    if (const auto id = id_of(&token.value, count, "added_tokens.json"))
      tokens.set(*id, token.name, -1000.0f, user_defined);
  }
  const Json settings = folder.json("tokenizer_config.json");
  if (const Json* added = settings.find("added_tokens_decoder")) {
    for (const Member& token : added->members()) {
      const auto number = number_of(token.name);
      const Json id{number.value_or(-1)};
      if (const auto at = id_of(&id, count, "tokenizer_config.json"))
        set_added(tokens, *at, token.value, !family.marks_specials);
    }
  }
  const Json* added = family.marks_specials ? tokenizer.find("added_tokens") : nullptr;
  if (!added) return;
  for (const Json& token : added->items()) {
    if (const auto id = id_of(token.find("id"), count, "tokenizer.json")) set_added(tokens, *id, token, false);
  }
}

void add_pieces(const Folder& folder, const Family& family, const Json& config, const Json& tokenizer,
                Metadata& metadata) {
  const auto file = folder.open("tokenizer.model");
  const auto pieces = read_sentencepiece_model(file.content(), "tokenizer.model");
  Tokens tokens(vocabulary_size(config, pieces.size()));
  for (std::size_t i = 0; i < std::min(pieces.size(), tokens.texts.size()); ++i) {
    tokens.set(i, pieces[i].text, pieces[i].score, pieces[i].type == user_defined ? normal : pieces[i].type);
  }
  add_listed_tokens(folder, family, tokenizer, tokens);
  const auto count = static_cast<std::int64_t>(tokens.texts.size());
  metadata.set("tokenizer.ggml.model", std::string("llama"));
  metadata.set("tokenizer.ggml.pre", std::string("default"));
  metadata.set("tokenizer.ggml.tokens", std::move(tokens.texts));
  metadata.set("tokenizer.ggml.scores", std::move(tokens.scores));
  metadata.set("tokenizer.ggml.token_type", std::move(tokens.types));
  add_special_tokens(folder, tokenizer, config, count, metadata);
}

// A part of a merge, in which a space is spelled as the byte-level alphabet does.
std::string merge_part(std::string_view part) {
  std::string text;
  for (const char c : part) {
    if (c == ' ') {
      text += "Ġ";
    } else {
      text += c;
    }
  }
  return text;
}

std::vector<std::string> merges_of(const Json& model) {
  const Json* list = model.find("merges");
  if (!list || list->items().empty())
    throw Error(Errc::format, "tokenizer.json: \"merges\" is missing", Fault::missing_key, "merges");
  std::vector<std::string> merges;
  for (const Json& merge : list->items()) {
    if (const Json* left = merge.at(0), *right = merge.at(1); left && right) {
      merges.push_back(fmt::format("{} {}", merge_part(left->text()), merge_part(right->text())));
    } else {
      merges.emplace_back(merge.text());
    }
  }
  return merges;
}

const Json& byte_level_model(const Json& tokenizer) {
  const Json* model = tokenizer.find("model");
  const Json* type = model ? model->find("type") : nullptr;
  if (!type || type->text() != "BPE" || !model->find("vocab")) {
    throw Error(Errc::unsupported,
                "tokenizer.json is no BPE, and there is no tokenizer.model that this model could take instead",
                Fault::unsupported, "tokenizer.json");
  }
  return *model;
}

void add_byte_level(const Folder& folder, const Json& config, const Json& tokenizer, Metadata& metadata) {
  const Json& model = byte_level_model(tokenizer);
  const Json& vocabulary = *model.find("vocab");
  const Json* added = tokenizer.find("added_tokens");
  Tokens tokens(vocabulary_size(config, vocabulary.members().size() + (added ? added->items().size() : 0)));
  for (const Member& token : vocabulary.members())
    tokens.set(id_in(&token.value, tokens.texts.size()), token.name, 0, normal);
  for (const Json& token : added ? added->items() : Json::List()) {
    const std::string text(content_of(token));
    const bool special = is_special(token) || looks_special(text);
    tokens.set(id_in(token.find("id"), tokens.texts.size()), special ? text : with_spaces(text), 0,
               special ? control : user_defined);
  }
  metadata.set("tokenizer.ggml.model", std::string("gpt2"));
  metadata.set("tokenizer.ggml.pre", pre_tokenizer_name(tokenizer));
  metadata.set("tokenizer.ggml.tokens", std::move(tokens.texts));
  metadata.set("tokenizer.ggml.token_type", std::move(tokens.types));
  metadata.set("tokenizer.ggml.merges", merges_of(model));
  add_special_tokens(folder, tokenizer, config, most_tokens, metadata);
}

}  // namespace

void add_vocabulary(const Folder& folder, const Family& family, const Json& config, Metadata& metadata) {
  const Json settings = folder.json("tokenizer_config.json");
  const Json tokenizer = folder.json("tokenizer.json");
  const Json* prefix = settings.find("add_prefix_space");
  if (const auto* flag = prefix && family.says_prefix ? prefix->as<bool>() : nullptr)
    metadata.set("tokenizer.ggml.add_space_prefix", *flag);
  const Json* type = settings.find("tokenizer_class");
  const bool byte_level =
      !folder.has("tokenizer.model") || (family.marks_specials && type && type->text() == "GPT2Tokenizer");
  if (byte_level) {
    if (!folder.has("tokenizer.json"))
      throw Error(Errc::io, fmt::format("{} has neither tokenizer.model nor tokenizer.json", folder.path("")));
    if (falls_back_to_bytes(tokenizer))
      add_byte_fallback(folder, family, config, tokenizer, metadata);
    else
      add_byte_level(folder, config, tokenizer, metadata);
  } else {
    add_pieces(folder, family, config, tokenizer, metadata);
  }
  if (family.gemma) metadata.set("tokenizer.ggml.add_space_prefix", false);
  if (family.end_of_turn >= 0)
    metadata.set("tokenizer.ggml.eot_token_id", static_cast<std::uint32_t>(family.end_of_turn));
}

}  // namespace inlay::inline v0::conversion
