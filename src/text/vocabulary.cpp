#include "text/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "text/byte_token.hpp"
#include "text/pre_tokenizer.hpp"

namespace inlay::text {
namespace {

struct Model {
  std::string_view name;
  Kind kind;
  TokenId bos, eos, unknown, separator, padding, mask;
  bool adds_bos, adds_eos, adds_space_prefix;
};

// Values of tokenizer.ggml.model, with the ids and flags that they imply.
constexpr Model models[] = {
    {"llama", Kind::sentencepiece, 1, 2, 0, -1, -1, -1, true, false, true},
    {"gpt2", Kind::byte_pair, 11, 11, -1, -1, -1, -1, false, false, false},
    {"gemma4", Kind::byte_pair, -1, -1, -1, -1, -1, -1, true, false, false},
    {"whitespace", Kind::byte_pair, -1, -1, -1, -1, -1, -1, false, false, false},
    {"bert", Kind::word_piece, 101, -1, 100, 102, 0, 103, true, false, false},
    {"t5", Kind::unigram, -1, 1, 2, -1, 0, -1, false, true, true},
    {"rwkv", Kind::rwkv, -1, -1, -1, -1, -1, -1, false, false, false},
    {"none", Kind::none, -1, -1, -1, -1, -1, -1, false, false, false},
    {"no_vocab", Kind::none, -1, -1, -1, -1, -1, -1, false, false, false},
};

const Model& model_named(std::string_view name) {
  for (const Model& model : models)
    if (model.name == name) return model;
  throw Error(Errc::unsupported,
              fmt::format("tokenizer.ggml.model \"{}\" is not a tokenizer that this version knows", name),
              Fault::unsupported, "tokenizer.ggml.model");
}

[[noreturn]] void refuse(Fault fault, const std::string& key, const std::string& problem) {
  throw Error(Errc::format, key + ' ' + problem, fault, key);
}

// An array with one element for each of `count` tokens and one of the given element types; null if absent.
const gguf::Value* per_token(const gguf::File& file, const std::string& key, std::size_t count,
                             std::initializer_list<gguf::ValueType> types) {
  const gguf::Value* value = file.find(key);
  if (!value) return nullptr;
  if (value->type() != gguf::ValueType::array ||
      std::find(types.begin(), types.end(), value->element_type()) == types.end())
    refuse(Fault::wrong_type, key, "is not an array of the right type");
  if (value->size() != count)
    refuse(Fault::inconsistent, key, fmt::format("has {} elements for {} tokens", value->size(), count));
  return value;
}

const char* const texts_key = "tokenizer.ggml.tokens";

const gguf::Value& listed_texts(const gguf::File& file) {
  const gguf::Value* value = file.find(texts_key);
  if (!value) refuse(Fault::missing_key, texts_key, "is absent");
  if (value->type() != gguf::ValueType::array || value->element_type() != gguf::ValueType::text)
    refuse(Fault::wrong_type, texts_key, "is not an array of strings");
  if (value->size() == 0) refuse(Fault::bad_value, texts_key, "is empty");
  if (value->size() > 1u << 28)
    refuse(Fault::limit, texts_key, fmt::format("has {} elements, too many", value->size()));
  return *value;
}

}  // namespace

Vocabulary::Vocabulary(const gguf::File& source, std::pmr::memory_resource* resource)
    : file(source),
      memory(resource),
      texts(memory),
      types(memory),
      scores(memory),
      table(memory),
      end_of_generation(memory) {
  model = file.text("tokenizer.ggml.model");
  kind = model_named(model).kind;
  if (const gguf::Value* value = file.find("tokenizer.chat_template"); value && value->type() != gguf::ValueType::text)
    refuse(Fault::wrong_type, "tokenizer.chat_template", "is not a string");
  if (kind == Kind::none) return;
  read_texts();
  read_types();
  read_scores();
  read_ids();
  read_flags();
  find_bytes();
  settle_special_tokens(*this);
}

std::size_t Vocabulary::size_in(const gguf::File& file) {
  return model_named(file.text("tokenizer.ggml.model")).kind == Kind::none ? 0 : listed_texts(file).size();
}

void Vocabulary::read_texts() {
  const gguf::Value& list = listed_texts(file);
  texts.resize(list.size());
  table = TokenTable(texts, memory);
  for (int id = 0; id < size(); ++id) {
    std::string_view& text = texts[static_cast<std::size_t>(id)];
    text = list.text(static_cast<std::size_t>(id)).value_or(std::string_view());
    longest = std::max(longest, text.size());
    if (!text.empty() && !table.insert(id))
      refuse(Fault::duplicate, texts_key,
             fmt::format("has the text of token {} twice, at {} too", *table.find(text), id));
  }
}

void Vocabulary::read_types() {
  using enum gguf::ValueType;
  const std::string key = "tokenizer.ggml.token_type";
  types.assign(texts.size(), TokenType::normal);
  const gguf::Value* value = per_token(file, key, texts.size(), {i32, u32});
  if (!value) return;
  for (std::size_t id = 0; id < types.size(); ++id) {
    const std::int64_t number = value->integer(id).value_or(0);
    // 0 stands for "undefined", which writers use for padding.
    if (number < 0 || number > 6) refuse(Fault::bad_value, key, fmt::format("has {} for token {}", number, id));
    types[id] = number == 0 ? TokenType::normal : static_cast<TokenType>(number);
    if (types[id] == TokenType::byte && !byte_of(texts[id]))
      refuse(Fault::bad_value, key, fmt::format("says that token {} is a byte, which its text is not", id));
  }
}

void Vocabulary::read_scores() {
  const std::string key = "tokenizer.ggml.scores";
  scores.assign(texts.size(), 0.0f);
  const gguf::Value* value = per_token(file, key, texts.size(), {gguf::ValueType::f32});
  if (!value) return;
  for (std::size_t id = 0; id < scores.size(); ++id) {
    scores[id] = static_cast<float>(value->real(id).value_or(0));
    if (!std::isfinite(scores[id]))
      refuse(Fault::bad_value, key, fmt::format("is not a finite number for token {}", id));
  }
}

void Vocabulary::read_ids() {
  const auto read = [this](const char* name, TokenId& id, TokenId otherwise = -1) {
    const std::string key = fmt::format("tokenizer.ggml.{}_token_id", name);
    if (id < 0) id = contains(otherwise) ? otherwise : -1;
    if (!file.find(key)) return;
    const std::int64_t stored = file.integer(key);
    if (!contains(stored))
      refuse(Fault::out_of_bounds, key, fmt::format("is {}, and the vocabulary has {} tokens", stored, size()));
    id = static_cast<TokenId>(stored);
  };
  const Model& defaults = model_named(model);
  if (kind == Kind::word_piece) read("cls", bos, defaults.bos);
  read("bos", bos, defaults.bos);
  read("eos", eos, defaults.eos);
  read("eot", eot);
  read("eom", eom);
  read("unknown", unknown, defaults.unknown);
  // The key is really spelled so. Converted encoders with byte pairs state it for a larger vocabulary than they have.
  if (kind == Kind::word_piece || contains(file.integer("tokenizer.ggml.seperator_token_id", 0)))
    read("seperator", separator, defaults.separator);
  read("padding", padding, defaults.padding);
  read("mask", mask, defaults.mask);
  read("prefix", fim_prefix);  // the older names first: the newer ones win
  read("suffix", fim_suffix);
  read("middle", fim_middle);
  read("fim_pre", fim_prefix);
  read("fim_suf", fim_suffix);
  read("fim_mid", fim_middle);
  read("fim_pad", fim_padding);
  read("fim_rep", fim_repository);
  read("fim_sep", fim_separator);
}

void Vocabulary::read_flags() {
  const Model& defaults = model_named(model);
  pre = model == "gemma4" || model == "whitespace" ? model : file.text("tokenizer.ggml.pre", "default");
  adds_bos = defaults.adds_bos;
  adds_separator = kind == Kind::word_piece;
  if (kind == Kind::byte_pair) {
    const PreTokenizer rules = pre_tokenizer_named(pre);
    adds_bos |= rules.has('b');
    adds_separator |= rules.has('s');
    if (rules.has('n') && !file.find("tokenizer.ggml.bos_token_id")) bos = -1;
  }
  adds_bos = flag("add_bos_token", adds_bos);
  adds_eos = flag("add_eos_token", defaults.adds_eos);
  adds_separator = flag("add_sep_token", adds_separator);
  const bool may_prefix = kind == Kind::sentencepiece || kind == Kind::unigram;
  adds_space_prefix = may_prefix && flag("add_space_prefix", defaults.adds_space_prefix);
  if (adds_bos && bos < 0 && file.find("tokenizer.ggml.add_bos_token"))
    refuse(Fault::inconsistent, "tokenizer.ggml.add_bos_token", "is true, and there is no BOS token");
  if (adds_eos && eos < 0 && file.find("tokenizer.ggml.add_eos_token"))
    refuse(Fault::inconsistent, "tokenizer.ggml.add_eos_token", "is true, and there is no EOS token");
}

void Vocabulary::find_bytes() {
  bytes.fill(unknown);
  for (int byte = 0; byte < 256; ++byte) {
    const char plain = static_cast<char>(byte);
    auto id = table.find(fmt::format("<0x{:02X}>", byte));
    if (!id) id = table.find({&plain, 1});
    if (id) bytes[static_cast<std::size_t>(byte)] = *id;
  }
}

void Vocabulary::push_byte(char byte, TokenIds& out) const {
  const TokenId id = bytes[static_cast<std::uint8_t>(byte)];
  if (id >= 0) out.push_back(id);
}

void Vocabulary::push_unknown(TokenIds& out) const {
  if (unknown < 0)
    throw Error(Errc::argument, "the vocabulary does not cover the text and has no unknown token", Fault::unsupported);
  out.push_back(unknown);
}

bool Vocabulary::flag(std::string_view key, bool otherwise) const {
  return file.flag(fmt::format("tokenizer.ggml.{}", key), otherwise);
}

bool Vocabulary::is_special(TokenId id) const {
  const TokenType of = type(id);
  return of == TokenType::control || of == TokenType::unknown || of == TokenType::user_defined ||
         of == TokenType::marker;
}

std::optional<TokenId> Vocabulary::find_plain(std::string_view token_text) const {
  const auto id = table.find(token_text);
  return id && is_plain(*id) ? id : std::nullopt;
}

}  // namespace inlay::text
