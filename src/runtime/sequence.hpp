// What an engine knows of a session: its tokens and what is kept of them, what a step reads of it, and how far its
// beginning was known.
#pragma once

#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "inlay/session.hpp"
#include "runtime/prefix.hpp"
#include "runtime/source.hpp"

namespace inlay::runtime {

// The tokens of one session, and the pages and state that hold what the network keeps of the first `cached` of them.
struct Sequence {
  std::pmr::vector<TokenId> tokens = {};
  std::size_t cached = 0;
  std::pmr::vector<std::int32_t> pages = {};
  std::int32_t slot = -1;
  std::pmr::string salt = {};                 // only sequences of the same salt share what they have read
  PrefixTree::Node* branch = nullptr;         // where the prefix tree holds its pages; pinned
  bool shareable = true;                      // its pages hold what anybody would compute here from its tokens
  std::shared_ptr<const Source> source = {};  // of an encoder-decoder: what its tokens are written for
  std::pmr::vector<std::int32_t> types = {};  // of an encoder's tokens: 1 for those of a second text; empty: all 0

  // The same in this memory.
  Sequence in(std::pmr::memory_resource* memory) const {
    return {{tokens, memory}, cached,    {pages, memory}, slot,           {salt, memory},
            branch,           shareable, source,          {types, memory}};
  }
  static Sequence of(std::string_view salt, std::pmr::memory_resource* memory) {
    auto sequence = Sequence().in(memory);
    sequence.salt = salt;
    return sequence;
  }
};

// Tokens [sequence.cached, sequence.cached + count) to read in a step, and drafts: tokens that may come after them.
// What is kept of drafts lies behind what counts as cached, until accept() or the sequence's next step. Drafts of
// a branch() stand behind their trunk: they come after the first `shared` rows of that earlier reading.
struct Reading {
  Sequence* sequence;
  int count;
  std::span<const int> wanted;  // rows whose logits are asked for, counted from the first of these tokens, ascending
  std::span<const TokenId> drafts = {};
  int trunk = -1, shared = 0;
  std::span<const float> given =
      {};  // of a network of heads: what the model made of each token, [rows, hidden_width()]

  int rows() const noexcept { return count + int(drafts.size()); }
};

// How far a sequence's beginning was known, and why not further.
struct Reuse {
  ReuseEnd end = ReuseEnd::not_asked;
  std::size_t agreed = 0, read = 0;  // tokens that are known; of those, what need not be read again: whole pages
};

}  // namespace inlay::runtime
