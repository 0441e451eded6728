// A grammar followed token by token: which may come next, and when the text is whole.
#pragma once

#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <vector>

#include "inlay/error.hpp"
#include "text/grammar_state.hpp"
#include "text/token_mask_trie.hpp"
#include "text/tokenizer.hpp"

namespace inlay::runtime {

// What masks need to know of a vocabulary; made once for a model.
struct TokenPieces {
  // Control tokens have no text, unless they are `marks`, which are sorted.
  explicit TokenPieces(const text::Tokenizer& tokenizer, std::span<const text::TokenId> marks = {},
                       std::pmr::memory_resource* memory = std::pmr::new_delete_resource());
  std::string text(text::TokenId id) const;

  const text::Tokenizer* tokenizer;
  std::pmr::vector<text::TokenId> ends;  // tokens that end a generation
  std::pmr::vector<text::TokenId> marks;
  text::TokenTrie trie;  // of the text that each token shows
};

class Constraint {
 public:
  Constraint(const Grammar& grammar, std::shared_ptr<const TokenPieces> pieces);

  // Finds out what may follow, which apply() would do otherwise. Throws Error{argument, Fault::limit} as apply() does.
  void prepare();
  // Forbids, by -infinity, what may not follow; the end of text is allowed where the text is whole.
  void apply(std::span<float> logits);
  // Reads the chosen token. Throws Error{argument} where it cannot follow, which a mask excludes.
  void accept(text::TokenId id);
  // How many of these tokens may follow, one after the other.
  std::size_t possible(std::span<const text::TokenId> ids) const;
  std::string forced() const { return state_.forced(); }  // text that must come next
  bool finished() const { return state_.finished(); }     // whole, and nothing can follow

 private:
  text::GrammarState state_;
  std::shared_ptr<const TokenPieces> pieces_;
  std::pmr::vector<std::uint64_t> bits_;
  bool prepared_ = false;
};

}  // namespace inlay::runtime
