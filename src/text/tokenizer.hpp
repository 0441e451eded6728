// Text into token ids and back, with the vocabulary and the rules that a GGUF file carries.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.hpp"
#include "inlay/gguf.hpp"

namespace inlay::text {

using TokenId = std::int32_t;
using TokenIds = std::pmr::vector<TokenId>;

struct EncodeOptions {
  bool add_special = false;    // BOS, EOS, CLS, SEP as the vocabulary asks for
  bool parse_special = false;  // text that spells a control token becomes that token
};

struct DecodeOptions {
  bool remove_special = false;   // drop a leading BOS and a trailing EOS that the vocabulary adds
  bool unparse_special = false;  // render control tokens as their text
};

// A part of a rendered prompt: the template's own text may spell control tokens, a user's text may not.
struct Segment {
  std::string_view text;
  bool parse_special = false;
};

// Immutable, and safe to share between threads.
class Tokenizer {
 public:
  // Throws Error{format} or Error{unsupported}, naming the key at fault. Keeps its own share of the file's memory.
  // `memory` serves all that is kept, the ids of texts, and what is needed to find them; it must outlive these.
  static std::shared_ptr<const Tokenizer> from(const gguf::File& file,
                                               std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  Tokenizer(const gguf::File& file, std::pmr::memory_resource* memory);
  // How many tokens that of a file has, without reading them. Throws as from() does where it cannot tell.
  static int size_in(const gguf::File& file);
  ~Tokenizer();

  TokenIds encode(std::string_view text, EncodeOptions options) const;
  TokenIds encode(std::span<const Segment> segments, bool add_special) const;

  // Two texts as one input, with the tokens between and around them that the vocabulary asks for.
  struct Pair {
    TokenIds ids;
    std::size_t second;  // where what is of the second text begins
  };
  Pair encode_pair(std::string_view first, std::string_view second) const;

  // The whole text of the ids. Throws Error{argument} for an id that is not in the vocabulary.
  std::string decode(std::span<const TokenId> ids, DecodeOptions options) const;
  // Appends the bytes of one token; control tokens have bytes only when `render_special`.
  void append_piece(TokenId id, bool render_special, std::string& out) const;

  int size() const;
  std::string_view kind() const;  // tokenizer.ggml.model
  TokenId bos() const;            // -1 where there is none, as for the four below
  TokenId eos() const;
  TokenId eot() const;
  TokenId unknown() const;
  TokenId padding() const;
  bool adds_bos() const;
  bool adds_eos() const;
  bool ends_generation(TokenId id) const;
  bool is_control(TokenId id) const;
  std::string_view token_text(TokenId id) const;  // as stored in the file
  std::optional<TokenId> find(std::string_view token_text) const;

 private:
  struct Parts;
  base::Owned<const Parts> parts_;
};

}  // namespace inlay::text
