// Helpers for the tests of grammars.
#pragma once

#include <cstdint>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "inlay/error.hpp"
#include "inlay/grammar.hpp"
#include "text/grammar_state.hpp"
#include "text/token_mask.hpp"

namespace support {

using Json = nlohmann::ordered_json;

inline bool accepts(const inlay::Grammar& grammar, std::string_view text) {
  inlay::text::GrammarState state(grammar);
  return state.accept(text) && state.complete();
}

inline std::vector<Json> read_lines(const std::string& path) {
  std::vector<Json> out;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) out.push_back(Json::parse(line));
  }
  return out;
}

// A vocabulary of all single bytes, and further pieces.
struct Vocabulary {
  explicit Vocabulary(std::vector<std::string> more = {}) {
    for (int byte = 0; byte < 256; ++byte) pieces.emplace_back(1, static_cast<char>(byte));
    pieces.insert(pieces.end(), more.begin(), more.end());
    views.assign(pieces.begin(), pieces.end());
  }
  std::vector<std::string> pieces;
  std::vector<std::string_view> views;
};

inline bool bit(const std::vector<std::uint64_t>& bits, std::size_t i) { return (bits[i / 64] >> i % 64 & 1) != 0; }

// A sentence of the grammar, token by token at random; empty where it became longer than `most` bytes.
inline std::string random_sentence(const inlay::Grammar& grammar, const Vocabulary& vocabulary,
                                   const inlay::text::TokenTrie& trie, std::mt19937& random, std::size_t most = 2000) {
  inlay::text::GrammarState state(grammar);
  std::string text;
  std::vector<std::uint64_t> bits(trie.words());
  while (text.size() < most) {
    if (state.complete() && (state.finished() || random() % 4 == 0)) return text;
    inlay::text::mask_tokens(state, trie, bits);
    std::vector<std::size_t> allowed;
    for (std::size_t i = 0; i < trie.vocabulary(); ++i) {
      if (bit(bits, i)) allowed.push_back(i);
    }
    if (allowed.empty()) throw std::runtime_error("no token may follow: " + text);
    // White space and more digits are always possible, so that they would fill the text.
    const std::string& piece = vocabulary.pieces[allowed[random() % allowed.size()]];
    if (!state.accept(piece)) throw std::runtime_error("a token of the mask cannot follow: " + text + " | " + piece);
    text += piece;
  }
  return {};
}

}  // namespace support
