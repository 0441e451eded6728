// A vocabulary on its way from the files of a folder to the keys of a GGUF file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conversion/family.hpp"
#include "conversion/folder.hpp"

namespace inlay::inline v0::conversion {

inline constexpr std::uint32_t most_tokens = 1u << 21;

// The token types of GGUF.
enum TokenType : std::int32_t { normal = 1, unknown, control, user_defined, unused, byte };

struct Tokens {
  std::vector<std::string> texts;
  std::vector<float> scores;
  std::vector<std::int32_t> types;

  // Every id has a token; those that no file lists pad the vocabulary.
  explicit Tokens(std::uint32_t count);
  void set(std::size_t id, std::string_view text, float score, std::int32_t type) {
    texts[id] = text;
    scores[id] = score;
    types[id] = type;
  }
};

std::uint32_t vocabulary_size(const Json& config, std::size_t otherwise);

// The id that a file gives, if it is one of the vocabulary.
std::optional<std::size_t> id_of(const Json* value, std::size_t count, std::string_view file);
// The id that tokenizer.json gives; throws Error{format} where the vocabulary ends before it.
std::size_t id_in(const Json* value, std::size_t count);

bool looks_special(std::string_view text);  // tokens that models' authors forgot to mark as control tokens
std::string with_spaces(std::string_view text);
bool is_special(const Json& token);
std::string_view content_of(const Json& token);

// The vocabulary of a tokenizer.json in SentencePiece's manner: pairs of pieces, and bytes for what has none.
bool falls_back_to_bytes(const Json& tokenizer);
void add_byte_fallback(const Folder& folder, const Family& family, const Json& config, const Json& tokenizer,
                       Metadata& metadata);

}  // namespace inlay::inline v0::conversion
