// SentencePiece's vocabularies where a folder has them as a list of merges only.
#include <unordered_map>

#include "conversion/special_tokens.hpp"
#include "conversion/tokens.hpp"

namespace inlay::inline v0::conversion {
namespace {

constexpr std::string_view mark = "▁";

bool is_byte(std::string_view text) { return text.size() == 6 && text.starts_with("<0x") && text.ends_with(">"); }

// Both parts of a merge: a list of two, or one text with a space between them.
std::string merged(const Json& merge) {
  if (const Json* left = merge.at(0), *right = merge.at(1); left && right)
    return std::string(left->text()) + std::string(right->text());
  std::string text(merge.text());
  if (const auto space = text.find(' '); space != std::string::npos) text.erase(space, 1);
  return text;
}

// Whether any part of the normalizer or pre-tokenizer puts a mark before a text.
bool prepends(const Json* part, int depth) {
  if (!part || depth == 0) return false;
  const Json *type = part->find("type"), *what = part->find("prepend"), *scheme = part->find("prepend_scheme");
  if (type && type->text() == "Prepend" && what && what->text() == mark) return true;
  if (type && type->text() == "Metaspace") return !scheme || scheme->text() != "never";
  for (const char* list : {"normalizers", "pretokenizers"})
    if (const Json* parts = part->find(list))
      for (const Json& inner : parts->items())
        if (prepends(&inner, depth - 1)) return true;
  return false;
}

}  // namespace

bool falls_back_to_bytes(const Json& tokenizer) {
  const Json* model = tokenizer.find("model");
  const Json* bytes = model ? model->find("byte_fallback") : nullptr;
  return bytes && bytes->as<bool>() && *bytes->as<bool>() && model->find("vocab") && model->find("merges");
}

// The earlier a merge stands, the higher its piece scores: SentencePiece puts the highest together first.
void add_byte_fallback(const Folder& folder, const Family& family, const Json& config, const Json& tokenizer,
                       Metadata& metadata) {
  const Json& model = *tokenizer.find("model");
  const auto& vocabulary = model.find("vocab")->members();
  const auto& merges = model.find("merges")->items();
  const Json *added = tokenizer.find("added_tokens"), *unknown_token = model.find("unk_token");
  Tokens tokens(vocabulary_size(config, vocabulary.size() + (added ? added->items().size() : 0)));
  std::unordered_map<std::string_view, std::size_t> ids;
  const auto last = -static_cast<float>(merges.size() + 1);
  for (const Member& token : vocabulary) {
    const auto id = id_in(&token.value, tokens.texts.size());
    ids.emplace(token.name, id);
    tokens.set(id, token.name, last, is_byte(token.name) ? byte : normal);
    if (unknown_token && unknown_token->text() == token.name) tokens.types[id] = unknown;
  }
  for (std::size_t i = 0; i < merges.size(); ++i) {
    const auto found = ids.find(merged(merges[i]));
    if (found != ids.end() && tokens.scores[found->second] == last)
      tokens.scores[found->second] = -static_cast<float>(i);
  }
  for (const Json& token : added ? added->items() : Json::List()) {
    const std::string text(content_of(token));
    const auto id = id_in(token.find("id"), tokens.texts.size());
    const bool special = is_special(token) || (!family.marks_specials && looks_special(text));
    if (tokens.types[id] == unknown) continue;
    tokens.set(id, special ? text : with_spaces(text), -1000.0f, special ? control : user_defined);
  }
  const auto count = static_cast<std::int64_t>(tokens.texts.size());
  metadata.set("tokenizer.ggml.model", std::string("llama"));
  metadata.set("tokenizer.ggml.pre", std::string("default"));
  metadata.set("tokenizer.ggml.tokens", std::move(tokens.texts));
  metadata.set("tokenizer.ggml.scores", std::move(tokens.scores));
  metadata.set("tokenizer.ggml.token_type", std::move(tokens.types));
  if (!family.gemma)
    metadata.set("tokenizer.ggml.add_space_prefix",
                 prepends(tokenizer.find("normalizer"), 4) || prepends(tokenizer.find("pre_tokenizer"), 4));
  add_special_tokens(folder, tokenizer, config, count, metadata);
}

}  // namespace inlay::inline v0::conversion
