// Which tokens may come next.
#pragma once

#include <cstdint>
#include <span>

#include "text/grammar_state.hpp"
#include "text/token_mask_trie.hpp"

namespace inlay::text {

// Sets the bits of the tokens that may follow and clears all others: token t is bit t % 64 of word t / 64. `bits` has
// trie.words() words. Throws Error{argument, Fault::limit} where finding out takes too much.
void mask_tokens(const GrammarState& state, const TokenTrie& trie, std::span<std::uint64_t> bits);

}  // namespace inlay::text
