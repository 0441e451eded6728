// WordPiece: text is cleaned and cut into words and punctuation, and each word into its longest known pieces.
#include "base/utf8.hpp"
#include "text/codec.hpp"
#include "text/pattern.hpp"
#include "text/prefix_index.hpp"
#include "text/unicode.hpp"

namespace inlay::text {
namespace {

// Controls but white space, formats, private use; and, where accents go, loose nonspacing marks.
constexpr std::string_view vanishing = R"([\x00-\x08\x0E-\x1F\x7F-\x84\x86-\x9F\p{Cf}\p{Co}\x{FFFD}]++)";
constexpr std::string_view vanishing_marks = R"([\x00-\x08\x0E-\x1F\x7F-\x84\x86-\x9F\p{Cf}\p{Co}\x{FFFD}\p{Mn}]++)";
// Words of one character: punctuation, ASCII symbols, and the ideographs that BERT's tokenizers list.
constexpr std::string_view singles =
    R"(\p{P}$+<=>^`|~\x{4E00}-\x{9FFF}\x{3400}-\x{4DBF}\x{20000}-\x{2A6DF}\x{2A700}-\x{2B73F}\x{2B740}-\x{2B81F})"
    R"(\x{2B920}-\x{2CEAF}\x{F900}-\x{FAFF}\x{2F800}-\x{2FA1F})";

std::string word_expression() { return "[" + std::string(singles) + "]|[^\\s" + std::string(singles) + "]++"; }

class WordPiece : public Codec {
 public:
  explicit WordPiece(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        lowercase_(vocabulary.flag("normalizer.lowercase", true)),
        strips_accents_(vocabulary.flag("normalizer.strip_accents", lowercase_)),
        vanishing_(strips_accents_ ? vanishing_marks : vanishing, vocabulary.memory),
        words_(word_expression(), vocabulary.memory),
        bases_(vocabulary.memory),
        pieces_(PrefixIndex::Entries(vocabulary.memory)) {
    PrefixIndex::Entries entries(vocabulary.memory);
    for (TokenId id = 0; id < vocabulary.size(); ++id)
      if (!vocabulary.text(id).empty() && !vocabulary.is_special(id)) entries.push_back({vocabulary.text(id), id});
    pieces_ = PrefixIndex(std::move(entries));
  }

  void encode(std::string_view raw, TokenIds& out) const override {
    Pattern::Scratch scratch(vocabulary_.memory);
    const auto text = without_vanishing(folded(to_valid_utf8(raw, vocabulary_.memory)), scratch);
    std::size_t at = 0;
    std::pmr::string marked(vocabulary_.memory);
    while (const auto word = words_.find(text, at, scratch)) {
      marked.assign(space_mark).append(text, word->begin, word->end - word->begin);
      encode_word(marked, out);
      at = word->end;
    }
  }

  void append(TokenId id, std::string& out) const override { out += replaced(vocabulary_.text(id), space_mark, " "); }

 private:
  std::pmr::string folded(std::string_view text) const {
    std::pmr::string out(vocabulary_.memory);
    std::u32string codes;
    while (!text.empty()) {
      const auto character = base::decode_utf8(text);
      text.remove_prefix(character.size);
      codes.clear();
      strips_accents_ ? bases_.append(character.code, codes) : codes.push_back(character.code);
      for (const char32_t code : codes) base::append_utf8(lowercase_ ? to_lower(code) : code, out);
    }
    return out;
  }

  std::pmr::string without_vanishing(std::string_view text, Pattern::Scratch& scratch) const {
    std::pmr::string out(vocabulary_.memory);
    std::size_t at = 0;
    while (const auto match = vanishing_.find(text, at, scratch)) {
      out += text.substr(at, match->begin - at);
      at = match->end;
    }
    out += text.substr(at);
    return out;
  }

  // A word that its pieces do not cover is unknown as a whole.
  void encode_word(std::string_view rest, TokenIds& out) const {
    const std::size_t before = out.size();
    while (!rest.empty()) {
      const auto piece = pieces_.longest(rest);
      if (piece.text.empty()) {
        out.resize(before);
        return vocabulary_.push_unknown(out);
      }
      out.push_back(piece.id);
      rest.remove_prefix(piece.text.size());
    }
  }

  const Vocabulary& vocabulary_;
  bool lowercase_, strips_accents_;
  Pattern vanishing_, words_;
  BaseLetters bases_;
  PrefixIndex pieces_;
};

}  // namespace

base::Owned<const Codec> word_piece(const Vocabulary& vocabulary) {
  return base::make<WordPiece>(vocabulary.memory, vocabulary);
}

}  // namespace inlay::text
