// Control tokens that have a meaning in the replies of a chat.
#include <algorithm>

#include "api/state.hpp"
#include "text/call_grammar.hpp"

namespace inlay {
inline namespace v0 {

const std::pmr::vector<TokenId>& ModelState::marks() const {
  std::call_once(marks_made, [&] {
    std::vector<std::string> texts;
    for (const char* key : {"tokenizer.chat_template", "tokenizer.chat_template.tool_use"}) {
      const auto source = file.text(key, "");
      std::ranges::copy(text::output_marks(text::OutputFormat::of_template(source), source), std::back_inserter(texts));
    }
    for (TokenId id = 0; id < tokenizer->size(); ++id) {
      if (!tokenizer->is_control(id) || tokenizer->ends_generation(id)) continue;
      const auto token = tokenizer->token_text(id);
      const auto has = [&](const std::string& text) { return !token.empty() && text.find(token) != text.npos; };
      if (std::ranges::any_of(texts, has)) marks_.push_back(id);
    }
  });
  return marks_;
}

std::shared_ptr<const runtime::TokenPieces> ModelState::pieces_with_marks() const {
  std::call_once(marked_pieces_made, [&] { marked_pieces_ = token_pieces(marks()); });
  return marked_pieces_;
}

}  // namespace v0
}  // namespace inlay
