// SentencePiece's byte-pair encoding: neighbours whose joined text is a token are merged, best score first.
#include <algorithm>
#include <functional>
#include <numeric>

#include "text/codec.hpp"
#include "text/merge.hpp"

namespace inlay::text {
namespace {

// Bytes of the character that a lead byte announces. Broken text needs no more than this: what is in no token
// becomes byte tokens, and so the same bytes again.
std::size_t announced_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

class SentencePiece : public Codec {
 public:
  explicit SentencePiece(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary), ranks_(vocabulary.texts.size(), vocabulary.memory) {
    std::pmr::vector<TokenId> best_first(ranks_.size(), vocabulary.memory);
    std::iota(best_first.begin(), best_first.end(), 0);
    const auto score = [&](TokenId id) { return vocabulary_.scores[static_cast<std::size_t>(id)]; };
    std::ranges::sort(best_first, std::greater(), score);
    for (const std::string_view text : vocabulary.texts) crosses_words_ |= word_end(text) < text.size();
    std::uint32_t rank = 0;
    for (std::size_t i = 0; i < best_first.size(); ++i) {
      if (i > 0 && score(best_first[i]) < score(best_first[i - 1])) ++rank;
      ranks_[static_cast<std::size_t>(best_first[i])] = rank;
    }
  }

  void encode(std::string_view raw, TokenIds& out) const override {
    std::pmr::string text(vocabulary_.adds_space_prefix ? space_mark : "", vocabulary_.memory);
    text.reserve(text.size() + raw.size());
    append_replaced(raw, " ", space_mark, text);
    Merger merger(vocabulary_.memory);
    for (std::string_view rest = text; !rest.empty();) {
      const std::size_t size = word_size(rest);
      encode_word(rest.substr(0, size), merger, out);
      rest.remove_prefix(size);
    }
  }

  void append(TokenId id, std::string& out) const override {
    append_replaced(vocabulary_.text(id), space_mark, " ", out);
  }

 private:
  // Marked spaces and what follows them, up to the next marked space.
  static std::size_t word_end(std::string_view text) {
    std::size_t at = 0;
    while (text.substr(at).starts_with(space_mark)) at += space_mark.size();
    return std::min(text.find(space_mark, at), text.size());
  }

  // Words can be merged one by one where no token reaches from one into the next.
  std::size_t word_size(std::string_view text) const { return crosses_words_ ? text.size() : word_end(text); }

  void encode_word(std::string_view word, Merger& merger, TokenIds& out) const {
    merger.clear();
    for (std::size_t at = 0; at < word.size();) {
      const std::size_t size = std::min(announced_size(word[at]), word.size() - at);
      merger.push(at, size, vocabulary_.find_plain(word.substr(at, size)).value_or(-1));
      at += size;
    }
    merger.run([&](const Symbol& left, const Symbol& right) -> std::optional<Merge> {
      const std::size_t size = std::size_t{left.size} + right.size;
      if (size > vocabulary_.longest) return std::nullopt;
      const auto id = vocabulary_.find_plain(word.substr(left.begin, size));
      return id ? std::optional(Merge{ranks_[static_cast<std::size_t>(*id)], *id}) : std::nullopt;
    });
    merger.for_each([&](const Symbol& symbol) {
      if (symbol.id >= 0) return out.push_back(symbol.id);
      for (const char byte : word.substr(symbol.begin, symbol.size)) vocabulary_.push_byte(byte, out);
    });
  }

  const Vocabulary& vocabulary_;
  std::pmr::vector<std::uint32_t> ranks_;  // of each token by its score; 0 is the best
  bool crosses_words_ = false;
};

}  // namespace

base::Owned<const Codec> sentencepiece(const Vocabulary& vocabulary) {
  return base::make<SentencePiece>(vocabulary.memory, vocabulary);
}

}  // namespace inlay::text
