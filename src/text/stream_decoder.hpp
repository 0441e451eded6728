// Token ids into text as they are generated: characters are handed out when their last byte has come.
#pragma once

#include <string>
#include <string_view>

#include "text/tokenizer.hpp"

namespace inlay::text {

class StreamDecoder {
 public:
  // Keeps a reference to the tokenizer.
  explicit StreamDecoder(const Tokenizer& tokenizer, bool render_special = false)
      : tokenizer_(tokenizer), render_special_(render_special) {}

  // Whole characters only, and U+FFFD for bytes that never became one; may be empty. Valid until the next call.
  std::string_view push(TokenId id);
  // What is left at the end: U+FFFD where a character was not finished.
  std::string_view flush();

 private:
  const Tokenizer& tokenizer_;
  bool render_special_;
  std::string held_;  // bytes of an unfinished character
  std::string text_;  // what the last call handed out
};

}  // namespace inlay::text
