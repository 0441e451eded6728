// Byte-pair encoding: words become bytes or characters, and listed pairs of neighbours are merged, lowest rank first.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/utf8.hpp"
#include "text/byte_alphabet.hpp"
#include "text/codec.hpp"
#include "text/merge.hpp"
#include "text/merge_table.hpp"
#include "text/split.hpp"
#include "text/unicode.hpp"

namespace inlay::text {
namespace {

const char* const merges_key = "tokenizer.ggml.merges";

std::size_t byte_value(char byte) { return static_cast<unsigned char>(byte); }

class BytePair : public Codec {
 public:
  explicit BytePair(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        rules_(pre_tokenizer_named(vocabulary.pre)),
        splitter_(rules_, vocabulary.memory),
        raw_(rules_.has('e') || vocabulary.model == "whitespace"),
        words_only_(vocabulary.model == "whitespace"),
        lowercase_(words_only_ && vocabulary.flag("normalizer.lowercase", false)),
        merges_(0, vocabulary.memory),
        other_symbols_(vocabulary.memory) {
    read_merges();
    for (int byte = 0; byte < 256; ++byte) {
      const char plain = static_cast<char>(byte);
      byte_symbols_[static_cast<std::size_t>(byte)] = known_symbol(to_byte_letters({&plain, 1}));
    }
  }

  void encode(std::string_view raw, TokenIds& out) const override {
    auto* const memory = vocabulary_.memory;
    auto text = to_valid_utf8(raw, memory);
    if (rules_.has('e')) text = replaced<std::pmr::string>(text, " ", space_mark, memory);
    if (lowercase_) text = to_lower(text, memory);
    const std::string_view view = text;
    Merger merger(memory);
    std::size_t begin = 0;
    for (const std::size_t end : splitter_.split(text)) {
      const std::string_view piece = view.substr(begin, end - begin);
      begin = end;
      if (words_only_ && is_white_space(base::decode_utf8(piece).code)) continue;
      encode_piece(piece, merger, out);
    }
  }

  void append(TokenId id, std::string& out) const override {
    if (rules_.has('e')) {
      append_replaced(vocabulary_.text(id), space_mark, " ", out);
    } else if (raw_) {
      out += vocabulary_.text(id);
    } else {
      append_from_byte_letters(vocabulary_.text(id), out);
    }
  }

 private:
  void read_merges();
  void read_merges(const gguf::Value& value, std::size_t first, std::size_t end);
  TokenId symbol_of(std::string_view text);           // a new one where there is none
  TokenId known_symbol(std::string_view text) const;  // -1 where there is none
  void encode_piece(std::string_view piece, Merger& merger, TokenIds& out) const;
  void push_symbol(std::string_view text, TokenId id, TokenIds& out) const;

  bool is_whole(std::string_view piece) const { return rules_.has('i') || (raw_ && piece.front() == '\n'); }
  std::optional<Merge> join(std::string_view piece, const Symbol& left, const Symbol& right) const;

  const Vocabulary& vocabulary_;
  PreTokenizer rules_;
  Splitter splitter_;
  bool raw_;         // symbols are characters and not bytes
  bool words_only_;  // white space is dropped
  bool lowercase_;
  bool by_id_ = false;  // no merges: neighbours join where their text is a token, lowest id first
  MergeTable merges_;
  TokenId last_result_ = -1;  // of the merge read last
  std::pmr::unordered_map<std::pmr::string, TokenId>
      other_symbols_;  // of merges that lead to no token; ids follow the tokens'
  std::array<TokenId, 256> byte_symbols_{};
};

TokenId BytePair::symbol_of(std::string_view text) {
  if (const auto id = vocabulary_.find_plain(text)) return *id;
  const auto next = vocabulary_.size() + static_cast<TokenId>(other_symbols_.size());
  return other_symbols_.try_emplace(std::pmr::string(text), next).first->second;
}

TokenId BytePair::known_symbol(std::string_view text) const {
  if (const auto id = vocabulary_.find_plain(text)) return *id;
  if (other_symbols_.empty()) return -1;
  const auto found = other_symbols_.find(std::pmr::string(text));
  return found == other_symbols_.end() ? -1 : found->second;
}

void BytePair::read_merges() {
  const gguf::Value* value = vocabulary_.file.find(merges_key);
  by_id_ = !value && vocabulary_.pre == "kimi-k2";
  if (by_id_) return;
  if (!value) throw Error(Errc::format, std::string(merges_key) + " is absent", Fault::missing_key, merges_key);
  if (value->type() != gguf::ValueType::array || (value->element_type() != gguf::ValueType::text && value->size() > 0))
    throw Error(Errc::format, std::string(merges_key) + " is not an array of strings", Fault::wrong_type, merges_key);
  merges_ = MergeTable(value->size(), vocabulary_.memory);
  for (std::size_t first = 0; first < value->size(); first += TokenTable::batch / 2)
    read_merges(*value, first, std::min(first + TokenTable::batch / 2, value->size()));
}

// From rank `first` to `end`: few at once, whose memory is fetched side by side.
void BytePair::read_merges(const gguf::Value& value, std::size_t first, std::size_t end) {
  std::array<std::string_view, TokenTable::batch> parts;
  std::size_t count = 0;
  for (std::size_t rank = first; rank < end; ++rank) {
    const std::string_view merge = value.text(rank).value_or(std::string_view());
    const std::size_t space = merge.find(' ', 1);
    if (space == merge.npos || space + 1 == merge.size())
      throw Error(Errc::format, fmt::format("{} has no pair of texts at {}", merges_key, rank), Fault::bad_value,
                  merges_key);
    parts[count++] = merge.substr(0, space);
    parts[count++] = merge.substr(space + 1);
  }
  vocabulary_.table.fetch(std::span(parts).first(count));
  std::array<MergeTable::Listed, TokenTable::batch / 2> merges;
  std::string joined;
  for (std::size_t i = 0; i < count; i += 2) {
    const TokenId left = symbol_of(parts[i]), right = symbol_of(parts[i + 1]);
    joined.assign(parts[i]).append(parts[i + 1]);
    // Most vocabularies list their merges in the order of the results.
    const auto leads_to = [&](TokenId id) { return vocabulary_.is_plain(id) && vocabulary_.text(id) == joined; };
    if (!leads_to(last_result_)) last_result_ = leads_to(last_result_ + 1) ? last_result_ + 1 : symbol_of(joined);
    merges_.fetch(merges[i / 2] = {left, right, last_result_});
  }
  for (std::size_t i = 0; i < count / 2; ++i) merges_.add(merges[i]);
}

std::optional<Merge> BytePair::join(std::string_view piece, const Symbol& left, const Symbol& right) const {
  if (!by_id_) return merges_.find(left.id, right.id);
  const auto id = vocabulary_.find_plain(to_byte_letters(piece.substr(left.begin, left.size + right.size)));
  return id ? std::optional(Merge{static_cast<std::uint32_t>(*id), *id}) : std::nullopt;
}

void BytePair::encode_piece(std::string_view piece, Merger& merger, TokenIds& out) const {
  if (is_whole(piece) && piece.size() <= vocabulary_.longest)
    if (const auto id = vocabulary_.find_plain(raw_ ? std::string(piece) : to_byte_letters(piece)))
      return out.push_back(*id);
  merger.clear();
  for (std::size_t at = 0; at < piece.size();) {
    const std::size_t size = raw_ ? base::decode_utf8(piece.substr(at)).size : 1;
    merger.push(at, size, raw_ ? known_symbol(piece.substr(at, size)) : byte_symbols_[byte_value(piece[at])]);
    at += size;
  }
  merger.run([&](const Symbol& left, const Symbol& right) { return join(piece, left, right); });
  merger.for_each([&](const Symbol& symbol) { push_symbol(piece.substr(symbol.begin, symbol.size), symbol.id, out); });
}

void BytePair::push_symbol(std::string_view text, TokenId id, TokenIds& out) const {
  if (vocabulary_.contains(id)) return out.push_back(id);
  for (const char byte : text) {
    const TokenId symbol = raw_ ? -1 : byte_symbols_[byte_value(byte)];
    vocabulary_.contains(symbol) ? out.push_back(symbol) : vocabulary_.push_byte(byte, out);
  }
}

}  // namespace

base::Owned<const Codec> byte_pair(const Vocabulary& vocabulary) {
  return base::make<BytePair>(vocabulary.memory, vocabulary);
}

}  // namespace inlay::text
