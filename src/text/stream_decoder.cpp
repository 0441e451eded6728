#include "text/stream_decoder.hpp"

#include "base/utf8.hpp"

namespace inlay::text {

std::string_view StreamDecoder::push(TokenId id) {
  text_.clear();
  tokenizer_.append_piece(id, render_special_, held_);
  std::string_view rest = held_;
  while (!rest.empty()) {
    const auto character = base::decode_utf8(rest);
    if (character.state == base::Utf8Character::State::unfinished) break;
    base::append_utf8(character.code, text_);
    rest.remove_prefix(character.size);
  }
  held_.erase(0, held_.size() - rest.size());
  return text_;
}

std::string_view StreamDecoder::flush() {
  text_.clear();
  if (!held_.empty()) base::append_utf8(base::replacement_character, text_);
  held_.clear();
  return text_;
}

}  // namespace inlay::text
