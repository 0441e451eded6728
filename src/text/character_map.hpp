// SentencePiece's precompiled character map: a double-array trie from text to its normal form, read without trust.
#pragma once

#include <cstdint>
#include <memory_resource>
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

  explicit CharacterMap(std::pmr::memory_resource* memory) : units_(memory), replacements_(memory) {}
  // tokenizer.ggml.precompiled_charsmap; throws Error{format} for one that breaks the format.
  CharacterMap(const gguf::Value& blob, std::pmr::memory_resource* memory);

  // The longest match at the start of the text.
  std::optional<Match> longest(std::string_view text) const;

 private:
  std::optional<std::string_view> replacement(std::uint32_t offset) const;

  std::pmr::vector<std::uint32_t> units_;
  std::pmr::string replacements_;  // each ends with a zero byte
};

}  // namespace inlay::text
