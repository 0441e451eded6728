// Unigram: of all ways to cut the text into tokens the one with the best sum of scores.
#include <algorithm>
#include <limits>

#include "base/utf8.hpp"
#include "text/character_map.hpp"
#include "text/codec.hpp"
#include "text/prefix_index.hpp"

namespace inlay::text {
namespace {

constexpr double unknown_penalty = 10;
constexpr std::size_t most_growth = 64;  // of text by normalization, as a factor: a crafted map could ask for any

class Unigram : public Codec {
 public:
  explicit Unigram(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        removes_extra_spaces_(vocabulary.flag("remove_extra_whitespaces", false)),
        map_(vocabulary.memory),
        tokens_(PrefixIndex::Entries(vocabulary.memory)) {
    if (const auto* blob = vocabulary.file.find("tokenizer.ggml.precompiled_charsmap"))
      map_ = CharacterMap(*blob, vocabulary.memory);
    PrefixIndex::Entries tokens(vocabulary.memory);
    double lowest = std::numeric_limits<double>::max();
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      const TokenType type = vocabulary.type(id);
      if (type == TokenType::normal) lowest = std::min<double>(lowest, score(id));
      if (vocabulary.text(id).empty() || (type != TokenType::normal && type != TokenType::unused)) continue;
      tokens.push_back({vocabulary.text(id), id});
    }
    unknown_score_ = lowest - unknown_penalty;
    tokens_ = PrefixIndex(std::move(tokens));
  }

  void encode(std::string_view raw, TokenIds& out) const override;
  void append(TokenId id, std::string& out) const override {
    append_replaced(vocabulary_.text(id), space_mark, " ", out);
  }

 private:
  // The best way to a position: the token that ends there, where it begins, and the sum of scores.
  struct Step {
    double score = -std::numeric_limits<double>::infinity();
    std::uint32_t begin = 0;
    TokenId id = -1;  // -1: unknown
  };

  double score(TokenId id) const { return vocabulary_.scores[static_cast<std::size_t>(id)]; }
  std::pmr::string mapped(std::string_view text) const;
  std::pmr::string normalized(std::string_view text) const;
  std::pmr::vector<Step> best_steps(std::string_view text) const;

  const Vocabulary& vocabulary_;
  bool removes_extra_spaces_;
  CharacterMap map_;
  double unknown_score_ = 0;
  PrefixIndex tokens_;
};

std::pmr::string Unigram::mapped(std::string_view text) const {
  const std::size_t limit = most_growth * text.size() + 1024;
  std::pmr::string out(vocabulary_.memory);
  while (!text.empty()) {
    if (const auto match = map_.longest(text)) {
      out += match->replacement;
      text.remove_prefix(match->size);
    } else {
      const auto character = base::decode_utf8(text);
      base::append_utf8(character.code, out);
      text.remove_prefix(character.whole() ? character.size : 1);
    }
    if (out.size() > limit) throw Error(Errc::argument, "the text grows too much when normalized", Fault::limit);
  }
  return out;
}

std::pmr::string Unigram::normalized(std::string_view text) const {
  std::pmr::string out(vocabulary_.memory);
  bool in_word = false, any_word = false;
  for (const char c : mapped(text)) {
    if (c == ' ') {
      if (!removes_extra_spaces_) out += space_mark;
      in_word = false;
      continue;
    }
    const bool prefix = removes_extra_spaces_ ? !in_word : !any_word && vocabulary_.adds_space_prefix;
    if (prefix) out += space_mark;
    in_word = any_word = true;
    out += c;
  }
  return out;
}

std::pmr::vector<Unigram::Step> Unigram::best_steps(std::string_view text) const {
  std::pmr::vector<Step> steps(text.size() + 1, vocabulary_.memory);
  steps[0].score = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t character = base::decode_utf8(text.substr(at)).size;
    const auto offer = [&](std::size_t size, double gain, TokenId id) {
      Step& step = steps[at + size];
      const double score = steps[at].score + gain;
      if (score > step.score) step = {score, static_cast<std::uint32_t>(at), id};
    };
    bool covered = false;
    tokens_.for_each(text.substr(at), [&](const PrefixIndex::Entry& token) {
      covered |= token.text.size() == character;
      offer(token.text.size(), score(token.id), token.id);
    });
    if (!covered) offer(character, unknown_score_, -1);
    at += character;
  }
  return steps;
}

void Unigram::encode(std::string_view raw, TokenIds& out) const {
  const auto text = normalized(raw);
  const auto steps = best_steps(text);
  TokenIds backwards(vocabulary_.memory);
  for (std::size_t at = text.size(); at > 0; at = steps[at].begin)
    if (steps[at].id >= 0 || backwards.empty() || backwards.back() >= 0) backwards.push_back(steps[at].id);
  for (auto id = backwards.rbegin(); id != backwards.rend(); ++id)
    *id >= 0 ? out.push_back(*id) : vocabulary_.push_unknown(out);
}

}  // namespace

base::Owned<const Codec> unigram(const Vocabulary& vocabulary) {
  return base::make<Unigram>(vocabulary.memory, vocabulary);
}

}  // namespace inlay::text
