// What the tokenizer kinds have in common: raw text into ids, and an ordinary token's text back into bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/memory.hpp"
#include "text/tokenizer.hpp"
#include "text/vocabulary.hpp"

namespace inlay::text {

class Codec {
 public:
  virtual ~Codec() = default;
  // `text` is never empty, starts the input or follows a special token, and has no special token in it.
  virtual void encode(std::string_view text, TokenIds& out) const = 0;
  // The bytes of a normal token.
  virtual void append(TokenId id, std::string& out) const = 0;
};

// One for each kind, in the vocabulary's memory. They keep a reference to the vocabulary and throw Error{format} for
// keys that only they read.
base::Owned<const Codec> sentencepiece(const Vocabulary&);
base::Owned<const Codec> byte_pair(const Vocabulary&);
base::Owned<const Codec> word_piece(const Vocabulary&);
base::Owned<const Codec> unigram(const Vocabulary&);
base::Owned<const Codec> rwkv(const Vocabulary&);

}  // namespace inlay::text
