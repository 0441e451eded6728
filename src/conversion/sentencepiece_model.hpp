// Reads tokenizer.model, SentencePiece's file: the pieces of a protobuf message, and no more of it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace inlay::inline v0::conversion {

struct Piece {
  std::string text;
  float score = 0;
  std::int32_t type = 1;  // the same numbers as the token types of GGUF
};

// Throws Error{format} naming the file.
std::vector<Piece> read_sentencepiece_model(std::span<const std::byte> message, const std::string& file);

}  // namespace inlay::inline v0::conversion
