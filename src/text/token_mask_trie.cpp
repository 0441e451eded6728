// A vocabulary as a tree of bytes.
#include "text/token_mask_trie.hpp"

#include <algorithm>
#include <utility>

#include "base/memory.hpp"
#include "base/utf8.hpp"

namespace inlay::text {
namespace {

std::size_t common_prefix(std::string_view a, std::string_view b) {
  return static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin());
}

std::size_t count_characters(std::string_view piece) {
  return static_cast<std::size_t>(std::ranges::count_if(piece, [](char c) { return (c & 0xC0) != 0x80; }));
}

// For each place in a piece: the kinds from there to its end.
std::pmr::vector<Kinds> kinds_from(std::string_view piece, std::pmr::memory_resource* memory) {
  std::pmr::vector<Kinds> out(piece.size() + 1, memory);
  std::pmr::vector<bool> inner(piece.size(), false, memory);  // not a character's first byte
  for (std::size_t at = 0; at < piece.size();) {
    const auto character = base::decode_utf8(piece.substr(at));
    const bool ascii = static_cast<unsigned char>(piece[at]) < 0x80;
    out[at] = ascii ? kind::of_ascii(piece[at]) : character.whole() ? kind::long_character : kind::broken;
    for (std::size_t i = 1; i < character.size; ++i) out[at + i] = kind::broken, inner[at + i] = true;
    at += character.size;
  }
  Kinds later = 0;
  for (std::size_t at = piece.size(); at-- > 0;) {
    const bool inside = inner[at];
    out[at] |= later;
    if (!inside) later = out[at];
  }
  return out;
}

}  // namespace

Kinds kind::of_ascii(char c) {
  if (c >= 'a' && c <= 'z') return small;
  if (c >= 'A' && c <= 'Z') return large;
  if (c >= '0' && c <= '9') return digit;
  if (c == ' ') return space;
  if (c < ' ') return control;
  if (c == 0x7F) return last_control;
  // The marks lie in four runs between the others; each has its own bit.
  const int mark = c < '0' ? c - '!' : c < 'A' ? c - ':' + 15 : c < 'a' ? c - '[' + 22 : c - '{' + 28;
  return Kinds{256} << mark;
}

bool is_easy(std::string_view piece) {
  const auto easy = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F && c != '"' && c != '\\'; };
  return !piece.empty() && std::ranges::all_of(piece, easy) && base::is_utf8(piece);
}

TokenSet::TokenSet(std::pmr::vector<TokenIndex> tokens, std::size_t vocabulary)
    : list_(tokens.get_allocator()), bits_(tokens.get_allocator()) {
  if (tokens.size() < vocabulary / 32) {
    list_ = std::move(tokens);
    list_.shrink_to_fit();
    return;
  }
  bits_.resize((vocabulary + 63) / 64);
  for (const TokenIndex token : tokens) bits_[token / 64] |= std::uint64_t{1} << token % 64;
}

void TokenSet::join(std::span<std::uint64_t> bits) const {
  for (std::size_t i = 0; i < bits_.size(); ++i) bits[i] |= bits_[i];
  for (const TokenIndex token : list_) bits[token / 64] |= std::uint64_t{1} << token % 64;
}

void TokenTree::fill(std::span<const std::string_view> pieces, std::span<const TokenIndex> chosen) {
  tokens.assign(chosen.begin(), chosen.end());
  std::ranges::sort(tokens,
                    [&](TokenIndex a, TokenIndex b) { return pieces[a] != pieces[b] ? pieces[a] < pieces[b] : a < b; });
  auto* const memory = tokens.get_allocator().resource();
  std::pmr::vector<std::uint32_t> path(1, 0, memory);
  nodes.push_back({0, 0, 0, 0});
  below.push_back(0);
  characters.push_back(0);
  const auto close = [&](std::size_t depth) {
    for (; path.size() > depth; path.pop_back()) nodes[path.back()].end = static_cast<std::uint32_t>(nodes.size());
  };
  std::string_view last;
  for (std::uint32_t i = 0; i < tokens.size(); ++i) {
    const std::string_view piece = pieces[tokens[i]];
    close(common_prefix(last, piece) + 1);
    while (path.size() <= piece.size()) {
      const auto depth = static_cast<std::uint32_t>(path.size());
      const auto byte = static_cast<std::uint8_t>(piece[depth - 1]);
      path.push_back(static_cast<std::uint32_t>(nodes.size()));
      nodes.push_back({0, i, depth, byte});
      below.push_back(0);
      characters.push_back(static_cast<std::uint16_t>(characters[path[depth - 1]] + ((byte & 0xC0) != 0x80)));
    }
    const auto kinds = kinds_from(piece, memory);
    for (std::size_t depth = 0; depth < path.size(); ++depth) below[path[depth]] |= kinds[depth];
    last = piece;
  }
  close(0);
  nodes.push_back({0, static_cast<std::uint32_t>(tokens.size()), 0, 0});
}

TokenTrie::TokenTrie(std::span<const std::string_view> pieces, std::pmr::memory_resource* memory) {
  constexpr std::size_t longest = 4096;  // bytes of a token that is considered at all
  auto content = base::make_shared<Content>(memory, memory);
  content->vocabulary = pieces.size();
  std::pmr::vector<TokenIndex> all(memory), hard(memory), easy(memory);
  std::pmr::vector<std::pmr::vector<TokenIndex>> easy_by_length(memory);
  for (TokenIndex token = 0; token < pieces.size(); ++token) {
    const std::string_view piece = pieces[token];
    if (piece.empty() || piece.size() > longest) continue;
    all.push_back(token);
    if (!is_easy(piece)) {
      hard.push_back(token);
      continue;
    }
    const std::size_t length = count_characters(piece);
    if (easy_by_length.size() <= length) easy_by_length.resize(length + 1);
    easy_by_length[length].push_back(token);
  }
  for (const auto& tokens : easy_by_length) {
    easy.insert(easy.end(), tokens.begin(), tokens.end());
    const bool same = tokens.empty() && !content->easy.empty();
    content->easy.push_back(
        same ? content->easy.back()
             : base::make_shared<const TokenSet>(memory, std::pmr::vector<TokenIndex>(easy, memory), pieces.size()));
  }
  content->all.fill(pieces, all);
  content->hard.fill(pieces, hard);
  content_ = std::move(content);
}

}  // namespace inlay::text
