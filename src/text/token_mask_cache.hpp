// The masks that a grammar's states have had before, within a limit of bytes.
#pragma once

#include <cstdint>
#include <memory>
#include <memory_resource>
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
  std::pmr::vector<ConditionalTokens> sometimes;
  std::pmr::vector<Loose> loose;
  const TokenTree* tree = nullptr;  // of the loose nodes
  explicit LocalMask(std::pmr::memory_resource* memory) : always(memory), sometimes(memory), loose(memory) {}
  std::size_t bytes() const;
};

// The same with its stack.
struct ThreadMask {
  std::shared_ptr<const LocalMask> local;
  TokenSet always;
  std::pmr::vector<ConditionalTokens> sometimes;
  explicit ThreadMask(std::pmr::memory_resource* memory) : always(memory), sometimes(memory) {}
  std::size_t bytes() const;
};

// Those of one grammar and one vocabulary. Safe to use from any number of threads. Keeps what was used lately.
class MaskCache {
 public:
  using Key = std::pmr::vector<std::uint32_t>;

  explicit MaskCache(std::pmr::memory_resource* memory) : young_(memory), old_(memory) {}
  std::shared_ptr<const LocalMask> find_local(const Key& key);
  std::shared_ptr<const ThreadMask> find_thread(const Key& key);
  void keep(Key key, std::shared_ptr<const LocalMask> mask);
  void keep(Key key, std::shared_ptr<const ThreadMask> mask);

 private:
  struct Hash {
    std::size_t operator()(const Key& key) const;
  };
  struct Generation {
    std::pmr::unordered_map<Key, std::shared_ptr<const LocalMask>, Hash> locals;
    std::pmr::unordered_map<Key, std::shared_ptr<const ThreadMask>, Hash> threads;
    std::size_t bytes = 0;
    explicit Generation(std::pmr::memory_resource* memory) : locals(memory), threads(memory) {}
  };
  void make_room();

  std::mutex mutex_;
  Generation young_, old_;
};

}  // namespace inlay::text
