// The vocabulary of a GGUF file, read and checked once: texts, types, scores, special ids and the flags of its kind.
#pragma once

#include <array>
#include <memory_resource>
#include <string_view>
#include <vector>

#include "inlay/gguf.hpp"
#include "text/token_table.hpp"
#include "text/tokenizer.hpp"

namespace inlay::text {

enum class Kind { sentencepiece, byte_pair, word_piece, unigram, rwkv, none };

// The numbers are those of tokenizer.ggml.token_type. `marker` is not stored: a control token that output shows.
enum class TokenType : std::uint8_t { normal = 1, unknown, control, user_defined, unused, byte, marker };

struct Vocabulary {
  Vocabulary(const gguf::File& file, std::pmr::memory_resource* memory);

  static std::size_t size_in(const gguf::File& file);  // of the vocabulary that would be read
  int size() const { return static_cast<int>(texts.size()); }
  bool contains(std::int64_t id) const { return id >= 0 && id < size(); }
  TokenType type(TokenId id) const { return types[static_cast<std::size_t>(id)]; }
  std::string_view text(TokenId id) const { return texts[static_cast<std::size_t>(id)]; }

  // Control, unknown and user-defined tokens are found in text as a whole and never built from its pieces.
  bool is_special(TokenId id) const;
  // Raw text may become these: no special ones, and no byte tokens spelled out.
  bool is_plain(TokenId id) const { return contains(id) && !is_special(id) && type(id) != TokenType::byte; }
  std::optional<TokenId> find_plain(std::string_view token_text) const;
  // The token of a byte, else the unknown token. Nothing where there is neither, as the tokenizers that such
  // vocabularies come from do.
  void push_byte(char byte, TokenIds& out) const;
  void push_unknown(TokenIds& out) const;  // throws Error{argument} where there is no unknown token
  // A flag key of tokenizer.ggml, or `otherwise` where it is absent.
  bool flag(std::string_view key, bool otherwise) const;

  gguf::File file;                    // keeps the memory of the texts
  std::pmr::memory_resource* memory;  // of all that is kept
  Kind kind{};
  std::string_view model, pre;
  std::pmr::vector<std::string_view> texts;  // empty for a token that text never becomes
  std::pmr::vector<TokenType> types;
  std::pmr::vector<float> scores;
  TokenTable table;
  std::size_t longest = 0;         // bytes of the longest text
  std::array<TokenId, 256> bytes;  // the token of each byte where the vocabulary has one, else `unknown`

  TokenId bos = -1, eos = -1, eot = -1, eom = -1, unknown = -1, separator = -1, padding = -1, mask = -1;
  TokenId fim_prefix = -1, fim_suffix = -1, fim_middle = -1, fim_padding = -1, fim_repository = -1, fim_separator = -1;
  std::pmr::vector<TokenId> end_of_generation;  // sorted

  bool adds_bos = false, adds_eos = false, adds_separator = false;
  bool adds_space_prefix = false;

 private:
  void read_texts();
  void read_types();
  void read_scores();
  void read_ids();
  void read_flags();
  void find_bytes();
};

// Completes the special ids by the texts that tokens usually have, corrects types, and collects end_of_generation.
void settle_special_tokens(Vocabulary& vocabulary);

inline constexpr std::string_view space_mark = "\xE2\x96\x81";  // U+2581

// Every `from` of the text replaced by `to`.
template <class Text>
void append_replaced(std::string_view text, std::string_view from, std::string_view to, Text& out) {
  for (std::size_t at = 0;;) {
    const std::size_t found = text.find(from, at);
    out += text.substr(at, found - at);
    if (found == text.npos) return;
    out += to;
    at = found + from.size();
  }
}

template <class Text = std::string>
Text replaced(std::string_view text, std::string_view from, std::string_view to,
              typename Text::allocator_type memory = {}) {
  Text out(memory);
  out.reserve(text.size());
  append_replaced(text, from, to, out);
  return out;
}

}  // namespace inlay::text
