// The masks that a grammar's states have had before, within a limit of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "text/automaton_run.hpp"
#include "text/token_mask_trie.hpp"

namespace inlay::text {

// Tokens that are allowed while a counter's count is in the interval.
struct ConditionalTokens {
  Interval when;
  std::shared_ptr<const TokenSet> tokens;
};

// What one thread allows, whatever the lower part of its stack: whole tokens, and beginnings of tokens after which its
// rule has ended, so that the rest depends on the stack.
struct LocalMask {
  struct Loose {
    std::uint32_t node;
    Interval when;
  };
  TokenSet always;
  std::vector<ConditionalTokens> sometimes;
  std::vector<Loose> loose;
  const TokenTree* tree = nullptr;  // of the loose nodes
  std::size_t bytes() const;
};

// The same with its stack.
struct ThreadMask {
  std::shared_ptr<const LocalMask> local;
  TokenSet always;
  std::vector<ConditionalTokens> sometimes;
  std::size_t bytes() const;
};

// Safe to use from any number of threads. Keeps what was used lately.
class MaskCache {
 public:
  using Key = std::vector<std::uint32_t>;

  std::shared_ptr<const LocalMask> find_local(const TokenTrie& trie, const Key& key);
  std::shared_ptr<const ThreadMask> find_thread(const TokenTrie& trie, const Key& key);
  void keep(const TokenTrie& trie, Key key, std::shared_ptr<const LocalMask> mask);
  void keep(const TokenTrie& trie, Key key, std::shared_ptr<const ThreadMask> mask);

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Generation {
    std::unordered_map<Key, std::shared_ptr<const LocalMask>, Hash> locals;
    std::unordered_map<Key, std::shared_ptr<const ThreadMask>, Hash> threads;
    std::size_t bytes = 0;
  };
  void meet(const TokenTrie& trie);
  void make_room();

  std::mutex mutex_;
  std::weak_ptr<const void> trie_;  // masks are those of one vocabulary
  Generation young_, old_;
};

}  // namespace inlay::text
