// Masks over logits.
#include "runtime/constraint.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "text/token_mask.hpp"

namespace inlay::runtime {

namespace {

text::TokenTrie make_trie(const TokenPieces& pieces, std::pmr::memory_resource* memory) {
  std::pmr::string texts(memory);  // of all tokens, one behind the other
  std::pmr::vector<std::size_t> ends(memory);
  ends.reserve(std::size_t(pieces.tokenizer->size()));
  for (text::TokenId id = 0; id < pieces.tokenizer->size(); ++id) {
    texts += pieces.text(id);
    ends.push_back(texts.size());
  }
  std::pmr::vector<std::string_view> views(memory);
  views.reserve(ends.size());
  std::size_t begin = 0;
  for (const auto end : ends) views.push_back(std::string_view(texts).substr(begin, end - begin)), begin = end;
  return text::TokenTrie(views, memory);
}

}  // namespace

TokenPieces::TokenPieces(const text::Tokenizer& t, std::span<const text::TokenId> shown,
                         std::pmr::memory_resource* memory)
    : tokenizer(&t), ends(memory), marks(shown.begin(), shown.end(), memory), trie(make_trie(*this, memory)) {
  for (text::TokenId id = 0; id < t.size(); ++id)
    if (t.ends_generation(id)) ends.push_back(id);
}

std::string TokenPieces::text(text::TokenId id) const {
  std::string text;
  tokenizer->append_piece(id, std::ranges::binary_search(marks, id), text);
  return text;
}

Constraint::Constraint(const Grammar& grammar, std::shared_ptr<const TokenPieces> pieces)
    : state_(grammar), pieces_(std::move(pieces)), bits_(pieces_->trie.words(), pieces_->ends.get_allocator()) {}

void Constraint::prepare() {
  if (prepared_) return;
  text::mask_tokens(state_, pieces_->trie, bits_);
  if (state_.complete())
    for (const auto id : pieces_->ends) bits_[std::size_t(id) / 64] |= std::uint64_t(1) << (id % 64);
  prepared_ = true;
}

void Constraint::apply(std::span<float> logits) {
  constexpr float never = -std::numeric_limits<float>::infinity();
  prepare();
  for (std::size_t id = 0; id < logits.size(); ++id) {
    const bool allowed = id / 64 < bits_.size() && (bits_[id / 64] >> (id % 64) & 1);
    logits[id] = allowed ? logits[id] : never;
  }
}

void Constraint::accept(text::TokenId id) {
  prepared_ = false;
  const auto& ends = pieces_->ends;
  if (std::find(ends.begin(), ends.end(), id) != ends.end() && state_.complete()) return;
  if (!state_.accept(pieces_->text(id)))
    throw Error(Errc::argument, "the token " + std::to_string(id) + " cannot follow in the grammar");
}

std::size_t Constraint::possible(std::span<const text::TokenId> ids) const {
  auto ahead = state_;
  std::size_t count = 0;
  for (const auto id : ids) {
    const auto text = pieces_->text(id);
    if (text.empty() || !ahead.accept(text)) break;
    ++count;
  }
  return count;
}

}  // namespace inlay::runtime
