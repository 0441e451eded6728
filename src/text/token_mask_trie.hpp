// A vocabulary as a tree of bytes, in the order in which a mask walks it.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace inlay {
inline namespace v0 {
struct GrammarRules;
}
}  // namespace inlay

namespace inlay::text {

using TokenIndex = std::uint32_t;

// Tokens as a list where they are few, as bits where they are many.
class TokenSet {
 public:
  explicit TokenSet(std::pmr::memory_resource* memory) : list_(memory), bits_(memory) {}
  TokenSet(std::pmr::vector<TokenIndex> tokens, std::size_t vocabulary);  // in the memory of `tokens`
  bool empty() const { return list_.empty() && bits_.empty(); }
  std::size_t bytes() const { return list_.capacity() * sizeof(TokenIndex) + bits_.capacity() * 8; }
  void join(std::span<std::uint64_t> bits) const;

 private:
  std::pmr::vector<TokenIndex> list_;
  std::pmr::vector<std::uint64_t> bits_;
};

// Which kinds of character a text has, as bits: letters, digits, each punctuation mark, ...
using Kinds = std::uint64_t;
namespace kind {
inline constexpr Kinds small = 1, large = 2, digit = 4, space = 8, control = 16, last_control = 32, long_character = 64,
                       broken = 128;
Kinds of_ascii(char c);
}  // namespace kind

// Nodes in preorder: what lies below a node follows it, up to `end`.
struct TokenTree {
  struct Node {
    std::uint32_t end = 0;
    std::uint32_t tokens = 0;  // where the node's own tokens begin; the next node's begin where they end
    std::uint32_t depth : 24, byte : 8;
  };
  std::pmr::vector<Node> nodes;  // [0] is the root, and one more closes the list
  std::pmr::vector<TokenIndex> tokens;
  std::pmr::vector<Kinds> below;               // of each node: the kinds of all that can follow it in a token
  std::pmr::vector<std::uint16_t> characters;  // of each node: those that begin up to it

  explicit TokenTree(std::pmr::memory_resource* memory)
      : nodes(memory), tokens(memory), below(memory), characters(memory) {}
  void fill(std::span<const std::string_view> pieces, std::span<const TokenIndex> chosen);
  std::uint32_t size() const { return static_cast<std::uint32_t>(nodes.size() - 1); }
  std::span<const TokenIndex> at(std::uint32_t node) const {
    return std::span(tokens).subspan(nodes[node].tokens, nodes[node + 1].tokens - nodes[node].tokens);
  }
};

struct LocalMask;
class MaskCache;

// Masks that serve all grammars of a vocabulary, by what their states mean. Safe to use from any number of threads.
class SharedMasks {
 public:
  explicit SharedMasks(std::pmr::memory_resource* memory) : masks_(memory) {}
  std::shared_ptr<const LocalMask> find(std::string_view meaning);
  void keep(std::string_view meaning, std::shared_ptr<const LocalMask> mask);

 private:
  std::mutex mutex_;
  std::pmr::map<std::pmr::string, std::shared_ptr<const LocalMask>, std::less<>> masks_;
};

// The masks of each grammar that is used with a vocabulary, as long as both live. Safe to use from any number of
// threads.
class MaskCaches {
 public:
  explicit MaskCaches(std::pmr::memory_resource* memory) : caches_(memory) {}
  std::shared_ptr<MaskCache> of(const std::shared_ptr<const GrammarRules>& rules);

 private:
  struct Known {
    std::weak_ptr<const GrammarRules> rules;
    std::shared_ptr<MaskCache> masks;
  };
  std::mutex mutex_;
  std::pmr::map<const GrammarRules*, Known> caches_;
};

// Built once for a vocabulary; safe to share.
class TokenTrie {
 public:
  // The bytes of each token; `memory` also serves the masks. A token without bytes is never allowed by a mask: end of
  // text is the caller's to allow where GrammarState::complete().
  explicit TokenTrie(std::span<const std::string_view> pieces,
                     std::pmr::memory_resource* memory = std::pmr::new_delete_resource());

  std::size_t vocabulary() const { return content_->vocabulary; }
  std::size_t words() const { return (vocabulary() + 63) / 64; }  // of a mask

 private:
  friend class MaskMaker;

  // "Easy" tokens consist of whole characters that JSON strings take as they are. They are most of a vocabulary, and
  // need no walk where the grammar takes any such character.
  struct Content {
    explicit Content(std::pmr::memory_resource* memory)
        : memory(memory), all(memory), hard(memory), easy(memory), shared(memory), caches(memory) {}
    std::pmr::memory_resource* memory;
    std::size_t vocabulary = 0;
    TokenTree all, hard;
    std::pmr::vector<std::shared_ptr<const TokenSet>> easy;  // those of so many characters or fewer
    mutable SharedMasks shared;
    mutable MaskCaches caches;
  };
  std::shared_ptr<const Content> content_;
};

bool is_easy(std::string_view piece);

}  // namespace inlay::text
