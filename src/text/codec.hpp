// What the tokenizer kinds have in common: raw text into ids, and an ordinary token's text back into bytes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"
#include "text/vocabulary.hpp"

namespace inlay::text {

class Codec {
 public:
  virtual ~Codec() = default;
  // `text` is never empty, starts the input or follows a special token, and has no special token in it.
  virtual void encode(std::string_view text, std::vector<TokenId>& out) const = 0;
  // The bytes of a normal token.
  virtual void append(TokenId id, std::string& out) const = 0;
};

// One for each kind. They keep a reference to the vocabulary and throw Error{format} for keys that only they read.
std::unique_ptr<const Codec> sentencepiece(const Vocabulary&);
std::unique_ptr<const Codec> byte_pair(const Vocabulary&);
std::unique_ptr<const Codec> word_piece(const Vocabulary&);
std::unique_ptr<const Codec> unigram(const Vocabulary&);
std::unique_ptr<const Codec> rwkv(const Vocabulary&);

}  // namespace inlay::text
