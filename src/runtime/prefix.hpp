// A radix tree over runs of tokens: which pages hold what was read of texts that begin alike.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace inlay::runtime {

using TokenId = std::int32_t;

// What keys and values depend on beside their tokens, and who may share them: of different keys, nothing is shared.
struct PrefixKey {
  std::pmr::string salt = {};      // of a tenant
  std::pmr::string adapters = {};  // which, and how strong
  std::pmr::string rotation = {};  // of positions
  std::uint32_t k_type = 0, v_type = 0;
  auto operator<=>(const PrefixKey&) const = default;

  // The same in this memory.
  PrefixKey in(std::pmr::memory_resource* memory) const {
    return {{salt, memory}, {adapters, memory}, {rotation, memory}, k_type, v_type};
  }
};

// Runs are cut at page boundaries, so a node owns whole pages; no two children of a node begin with the same page.
// Not thread-safe: the engine's lock covers it.
class PrefixTree {
  // Compares nodes by their first page; a shorter list of tokens finds where it would stand among them.
  struct ByFirstPage {
    using is_transparent = void;
    std::size_t page;
    template <class A, class B>
    bool operator()(const A& a, const B& b) const {
      const auto x = first(a), y = first(b);
      return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
    }
    std::span<const TokenId> first(std::span<const TokenId> run) const { return run.first(std::min(page, run.size())); }
    template <class N>
    std::span<const TokenId> first(const N* node) const {
      return first(std::span<const TokenId>(node->run));
    }
  };

 public:
  struct Node {
    Node(std::size_t page, std::pmr::memory_resource* memory)
        : run(memory), pages(memory), children(ByFirstPage{page}, memory) {}
    std::pmr::vector<TokenId> run;
    std::pmr::vector<std::int32_t> pages;
    std::int32_t state = -1;  // of a recurrent model, after the run's last token; below zero: none is kept
    Node* parent = nullptr;
    std::pmr::set<Node*, ByFirstPage> children;
    int pins = 0;
    Node *newer = nullptr, *older = nullptr;  // in the order of use
    const PrefixKey* key = nullptr;           // of a root
  };

  // The tree says of each page and state when it begins and when it ceases to refer to it; no function may throw.
  using Function = std::function<void(std::int32_t block)>;
  struct Owner {
    Function hold_page, drop_page, hold_state = {}, drop_state = {};
  };
  PrefixTree(int page, Owner owner, std::pmr::memory_resource* memory = std::pmr::new_delete_resource())
      : page_(std::size_t(page)), owner_(std::move(owner)), memory_(memory), roots_(memory) {}
  PrefixTree(const PrefixTree&) = delete;
  PrefixTree& operator=(const PrefixTree&) = delete;
  ~PrefixTree();

  enum class End { whole, differs, unknown };  // all is known; others go on differently; nobody read on
  using Pages = std::pmr::vector<std::int32_t>;
  struct Match {
    Pages pages;
    std::size_t agreed = 0;  // tokens that are known, those of a part of a page included
    End end = End::unknown;
    Node* node = nullptr;  // the last one; null: no page matches
  };
  // The longest known beginning of `tokens`, which counts as used. with_state: the longest at whose end a state is
  // kept.
  Match match(const PrefixKey& key, std::span<const TokenId> tokens, bool with_state = false);
  // The pages that match() would find, which do not count as used.
  Pages known_pages(const PrefixKey& key, std::span<const TokenId> tokens, bool with_state = false) const;

  // Refers to the pages of a beginning, as far as it does not know them yet, and to the state at its end, if one is
  // given and none known. Returns its last node, or null.
  Node* insert(const PrefixKey& key, std::span<const TokenId> tokens, std::span<const std::int32_t> pages,
               std::int32_t state = -1);

  // A pinned node and those before it stay. Null pins nothing.
  void pin(Node* node) noexcept {
    if (node) ++node->pins;
  }
  void unpin(Node* node) noexcept {
    if (node) --node->pins;
  }

  // Forgets one page: the last of the beginning that was not used for longest. False: all are pinned.
  bool evict() noexcept;
  // Forgets the state that was not used for longest, and what serves nobody without it. False: there is none.
  bool evict_state() noexcept;

  std::size_t pages() const noexcept { return pages_; }
  // Calls use(node) for every run.
  template <class Use>
  void each_node(const Use& use) const {
    for (const Node* node = newest_; node; node = node->older) use(*node);
  }

 private:
  Node* root(const PrefixKey& key);
  Node* nearest(const Node& node, std::span<const TokenId> tokens) const;
  Node* extend(Node* at, std::span<const TokenId> tokens, std::span<const std::int32_t> pages);
  Node* split(Node* node, std::size_t length);
  void drop_state(Node& node) noexcept;
  void prune(Node* node) noexcept;
  void remove(Node& node) noexcept;
  void end(Node& node) noexcept;
  void put_in(Node& node, Node* older) noexcept;
  void take_out(Node& node) noexcept;
  void touch(Node* node) noexcept;

  std::size_t page_, pages_ = 0;
  Owner owner_;
  std::pmr::memory_resource* memory_;
  std::pmr::map<PrefixKey, Node> roots_;
  Node *newest_ = nullptr, *oldest_ = nullptr;  // of all nodes but roots, in the order of use
};

}  // namespace inlay::runtime
