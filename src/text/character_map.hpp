// SentencePiece's precompiled character map: a double-array trie from text to its normal form, read without trust.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/gguf.hpp"

namespace inlay::text {

class CharacterMap {
 public:
  struct Match {
    std::size_t size;  // bytes of the text that are replaced
    std::string_view replacement;
  };

  CharacterMap() = default;
  // tokenizer.ggml.precompiled_charsmap; throws Error{format} for one that breaks the format.
  explicit CharacterMap(const gguf::Value& blob);

  // The longest match at the start of the text.
  std::optional<Match> longest(std::string_view text) const;

 private:
  std::optional<std::string_view> replacement(std::uint32_t offset) const;

  std::vector<std::uint32_t> units_;
  std::string replacements_;  // each ends with a zero byte
};

}  // namespace inlay::text
