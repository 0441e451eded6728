#include "text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "text/byte_token.hpp"
#include "text/clean_spaces.hpp"
#include "text/codec.hpp"
#include "text/special_tokens.hpp"
#include "text/vocabulary.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t longest_input = std::size_t{1} << 30;  // bytes: positions are kept in 32 bits

base::Owned<const Codec> codec_for(const Vocabulary& vocabulary) {
  switch (vocabulary.kind) {
    case Kind::sentencepiece: return sentencepiece(vocabulary);
    case Kind::byte_pair: return byte_pair(vocabulary);
    case Kind::word_piece: return word_piece(vocabulary);
    case Kind::unigram: return unigram(vocabulary);
    case Kind::rwkv: return rwkv(vocabulary);
    case Kind::none: break;
  }
  return {};
}

}  // namespace

struct Tokenizer::Parts {
  Parts(const gguf::File& file, std::pmr::memory_resource* memory)
      : vocabulary(file, memory), special(vocabulary), codec(codec_for(vocabulary)) {}

  const Vocabulary& with(TokenId id) const {
    if (!codec) throw Error(Errc::unsupported, "this model has no vocabulary: it takes and gives token ids only");
    if (!vocabulary.contains(id))
      throw Error(Errc::argument, fmt::format("token {} is not among the {} of the vocabulary", id, vocabulary.size()),
                  Fault::out_of_bounds);
    return vocabulary;
  }

  Vocabulary vocabulary;
  SpecialTokens special;
  base::Owned<const Codec> codec;
};

std::shared_ptr<const Tokenizer> Tokenizer::from(const gguf::File& file, std::pmr::memory_resource* memory) {
  return base::make_shared<const Tokenizer>(memory, file, memory);
}
Tokenizer::Tokenizer(const gguf::File& file, std::pmr::memory_resource* memory)
    : parts_(base::make<const Parts>(memory, file, memory)) {}
int Tokenizer::size_in(const gguf::File& file) { return int(Vocabulary::size_in(file)); }
Tokenizer::~Tokenizer() = default;

TokenIds Tokenizer::encode(std::string_view text, EncodeOptions options) const {
  const Segment segment{text, options.parse_special};
  return encode(std::span(&segment, 1), options.add_special);
}

TokenIds Tokenizer::encode(std::span<const Segment> segments, bool add_special) const {
  if (!parts_->codec) throw Error(Errc::unsupported, "this model has no vocabulary: it takes token ids only");
  // One text, so that words and merges cross the borders of segments; control tokens do not.
  const Vocabulary& vocabulary = parts_->vocabulary;
  std::pmr::string text(vocabulary.memory);
  std::pmr::vector<Range> parsed(vocabulary.memory);
  for (const Segment& segment : segments) {
    if (segment.text.size() > longest_input - text.size())
      throw Error(Errc::argument, "the text is longer than a gigabyte", Fault::limit);
    const Range range{text.size(), text.size() + segment.text.size()};
    text += segment.text;
    if (!segment.parse_special || segment.text.empty()) continue;
    if (!parsed.empty() && parsed.back().end == range.begin)
      parsed.back().end = range.end;
    else
      parsed.push_back(range);
  }
  TokenIds ids(vocabulary.memory);
  if (add_special && vocabulary.adds_bos && vocabulary.bos >= 0) ids.push_back(vocabulary.bos);
  for (const auto& [raw, id] : parts_->special.partition(text, parsed)) {
    if (!raw.empty()) parts_->codec->encode(raw, ids);
    if (id >= 0) ids.push_back(id);
  }
  if (add_special && vocabulary.adds_eos && vocabulary.eos >= 0) ids.push_back(vocabulary.eos);
  const bool separates = vocabulary.kind == Kind::word_piece && vocabulary.separator >= 0;
  if (add_special && separates) ids.push_back(vocabulary.separator);
  return ids;
}

// [BOS] first [EOS] [SEP] second [EOS] with the parts that the flags name; BERT's own is CLS first SEP second SEP.
Tokenizer::Pair Tokenizer::encode_pair(std::string_view first, std::string_view second) const {
  const Vocabulary& v = parts_->vocabulary;
  const bool bert = v.kind == Kind::word_piece;
  const TokenId end = bert || v.eos < 0 ? v.separator : v.eos;
  TokenIds ids(v.memory);
  const auto add = [&ids](bool asked, TokenId id) {
    if (asked && id >= 0) ids.push_back(id);
  };
  const auto append = [&](std::string_view text) {
    const auto more = encode(text, {});
    ids.insert(ids.end(), more.begin(), more.end());
    add(bert || v.adds_eos, end);
  };
  add(v.adds_bos, v.bos);
  append(first);
  add(!bert && v.adds_separator, v.separator >= 0 ? v.separator : v.eos);
  const auto begin = ids.size();
  append(second);
  return {std::move(ids), begin};
}

std::string Tokenizer::decode(std::span<const TokenId> ids, DecodeOptions options) const {
  const Vocabulary& vocabulary = parts_->vocabulary;
  if (options.remove_special && vocabulary.adds_bos && !ids.empty() && ids.front() == vocabulary.bos)
    ids = ids.subspan(1);
  if (options.remove_special && vocabulary.adds_eos && !ids.empty() && ids.back() == vocabulary.eos)
    ids = ids.first(ids.size() - 1);
  std::string text;
  bool drops_space = vocabulary.adds_space_prefix;  // of the first token, even where that shows nothing
  for (const TokenId id : ids) {
    append_piece(id, options.unparse_special, text);
    if (drops_space && text.starts_with(' ')) text.erase(0, 1);
    drops_space = false;
  }
  // Elsewhere the spaces are those of the text, and decoding gives back what was encoded.
  if (vocabulary.kind == Kind::word_piece) return clean_spaces(text);
  return text;
}

void Tokenizer::append_piece(TokenId id, bool render_special, std::string& out) const {
  const Vocabulary& vocabulary = parts_->with(id);
  const std::string_view text = vocabulary.text(id);
  switch (vocabulary.type(id)) {
    case TokenType::normal: return parts_->codec->append(id, out);
    case TokenType::byte: out += static_cast<char>(byte_of(text).value_or(0)); return;
    case TokenType::unused: return;
    case TokenType::unknown:
    case TokenType::control:
      if (!render_special) return;
      [[fallthrough]];
    case TokenType::user_defined:
    case TokenType::marker: out += text;
  }
}

int Tokenizer::size() const { return parts_->vocabulary.size(); }
std::string_view Tokenizer::kind() const { return parts_->vocabulary.model; }
TokenId Tokenizer::bos() const { return parts_->vocabulary.bos; }
TokenId Tokenizer::eos() const { return parts_->vocabulary.eos; }
TokenId Tokenizer::eot() const { return parts_->vocabulary.eot; }
TokenId Tokenizer::unknown() const { return parts_->vocabulary.unknown; }
TokenId Tokenizer::padding() const { return parts_->vocabulary.padding; }
bool Tokenizer::adds_bos() const { return parts_->vocabulary.adds_bos; }
bool Tokenizer::adds_eos() const { return parts_->vocabulary.adds_eos; }

bool Tokenizer::ends_generation(TokenId id) const {
  const auto& ids = parts_->vocabulary.end_of_generation;
  return std::binary_search(ids.begin(), ids.end(), id);
}

bool Tokenizer::is_control(TokenId id) const {
  if (!parts_->vocabulary.contains(id)) return false;
  const TokenType type = parts_->vocabulary.type(id);
  return type == TokenType::control || type == TokenType::marker;
}

std::string_view Tokenizer::token_text(TokenId id) const { return parts_->with(id).text(id); }

std::optional<TokenId> Tokenizer::find(std::string_view token_text) const {
  return parts_->vocabulary.table.find(token_text);
}

}  // namespace inlay::text
