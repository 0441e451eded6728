// RWKV's tokenizer: at each byte the longest token, whose text in the file is written with escapes.
#include <algorithm>

#include "text/byte_token.hpp"
#include "text/codec.hpp"
#include "text/prefix_index.hpp"

namespace inlay::text {
namespace {

std::pmr::string unescaped(std::string_view text, std::pmr::memory_resource* memory) {
  std::pmr::string out(memory);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    const char escaped = text[++i];
    const auto high = i + 2 < text.size() ? hex_digit(text[i + 1]) : std::nullopt;
    const auto low = i + 2 < text.size() ? hex_digit(text[i + 2]) : std::nullopt;
    if (escaped == 'x' && high && low) {
      out += static_cast<char>(*high << 4 | *low);
      i += 2;
    } else {
      out += escaped == 't' ? '\t' : escaped == 'n' ? '\n' : escaped == 'r' ? '\r' : escaped;
    }
  }
  return out;
}

class Rwkv : public Codec {
 public:
  explicit Rwkv(const Vocabulary& vocabulary)
      : vocabulary_(vocabulary),
        texts_(vocabulary.texts.size(), vocabulary.memory),
        tokens_(PrefixIndex::Entries(vocabulary.memory)) {
    PrefixIndex::Entries entries(vocabulary.memory);
    for (TokenId id = 0; id < vocabulary.size(); ++id) {
      auto& text = texts_[static_cast<std::size_t>(id)];
      text = unescaped(vocabulary.text(id), vocabulary.memory);
      // Id 0 ends texts: it stands for no text, whatever the file calls it.
      if (id > 0 && !text.empty() && !vocabulary.is_special(id)) entries.push_back({text, id});
    }
    tokens_ = PrefixIndex(std::move(entries));
  }

  void encode(std::string_view text, TokenIds& out) const override {
    while (!text.empty()) {
      const auto token = tokens_.longest(text);
      out.push_back(token.text.empty() ? std::max(vocabulary_.unknown, 0) : token.id);
      text.remove_prefix(std::max<std::size_t>(token.text.size(), 1));
    }
  }

  void append(TokenId id, std::string& out) const override { out += texts_[static_cast<std::size_t>(id)]; }

 private:
  const Vocabulary& vocabulary_;
  std::pmr::vector<std::pmr::string> texts_;  // without escapes
  PrefixIndex tokens_;
};

}  // namespace

base::Owned<const Codec> rwkv(const Vocabulary& vocabulary) { return base::make<Rwkv>(vocabulary.memory, vocabulary); }

}  // namespace inlay::text
