// Proves: the prefix tree finds, keeps and forgets exactly what a plain list of all beginnings would.
#include <random>

#include "runtime/prefix.hpp"
#include "tests/support/catch.hpp"

namespace {

using inlay::runtime::PrefixKey;
using inlay::runtime::PrefixTree;
using inlay::runtime::TokenId;
using Tokens = std::vector<TokenId>;
using End = PrefixTree::End;

// Every beginning of whole pages, with its page and the time of its last use.
struct Known {
  std::int32_t page;
  long used;
  int pins = 0;
};
using Beginnings = std::map<std::pair<std::pmr::string, Tokens>, Known>;

Tokens first(const Tokens& tokens, std::size_t n) { return Tokens(tokens.begin(), tokens.begin() + std::ptrdiff_t(n)); }

class Twins {
 public:
  Twins(int page, unsigned seed)
      : page_(std::size_t(page)),
        tree_(page, {[this](std::int32_t p) { ++holders_[p]; }, [this](std::int32_t p) { --holders_[p]; }}),
        random_(seed) {}

  void step() {
    const std::pmr::string salt = below(2) ? "a" : "b";
    const auto choice = below(10);
    if (choice < 4)
      insert(salt, random_tokens());
    else if (choice < 8)
      match(salt, random_tokens());
    else if (choice < 9)
      evict();
    else if (!pinned_.empty())
      unpin();
    REQUIRE(tree_.pages() == known_.size());
  }
  void check_holders() {
    std::map<std::int32_t, int> expected;
    for (const auto& [tokens, known] : known_) ++expected[known.page];
    std::erase_if(holders_, [](const auto& held) { return held.second == 0; });
    REQUIRE(holders_ == expected);
  }

 private:
  std::size_t below(std::size_t n) { return random_() % n; }
  Tokens random_tokens() {
    Tokens tokens(below(6 * page_ + 1));
    for (auto& token : tokens) token = TokenId(below(20) == 0);
    return tokens;
  }
  void pin(const std::pmr::string& salt, const Tokens& path, PrefixTree::Node* node) {
    if (!node || below(4) != 0) return;
    tree_.pin(node);
    pinned_.push_back({{salt, path}, node});
    for (auto n = page_; n <= path.size(); n += page_) ++known_.at({salt, first(path, n)}).pins;
  }
  void unpin() {
    const auto i = pinned_.begin() + std::ptrdiff_t(below(pinned_.size()));
    const auto& [salt, path] = i->first;
    for (auto n = page_; n <= path.size(); n += page_) --known_.at({salt, first(path, n)}).pins;
    tree_.unpin(i->second);
    pinned_.erase(i);
  }

  void insert(const std::pmr::string& salt, Tokens tokens) {
    tokens.resize(tokens.size() / page_ * page_);
    PrefixTree::Pages pages;
    ++now_;
    for (auto n = page_; n <= tokens.size(); n += page_) {
      pages.push_back(next_page_++);
      known_.try_emplace({salt, first(tokens, n)}, Known{pages.back(), 0}).first->second.used = now_;
    }
    pin(salt, tokens, tree_.insert({.salt = salt}, tokens, pages));
  }

  void match(const std::pmr::string& salt, const Tokens& tokens) {
    const auto foreseen = tree_.known_pages({.salt = salt}, tokens);
    const auto found = tree_.match({.salt = salt}, tokens);
    PrefixTree::Pages pages;
    ++now_;
    std::size_t agreed = 0;
    bool differs = false;
    for (auto n = page_; n <= tokens.size(); n += page_) {
      const auto i = known_.find({salt, first(tokens, n)});
      if (i == known_.end()) break;
      pages.push_back(i->second.page), i->second.used = now_;
    }
    for (const auto& [key, known] : known_) {
      if (key.first != salt) continue;
      const auto same = std::size_t(
          std::mismatch(key.second.begin(), key.second.end(), tokens.begin(), tokens.end()).first - key.second.begin());
      if (same > agreed) agreed = same, differs = false;
      if (same == agreed) differs |= same < key.second.size();
    }
    REQUIRE(found.pages == pages);
    REQUIRE(foreseen == pages);
    REQUIRE(found.agreed == agreed);
    if (agreed < tokens.size()) REQUIRE(found.end == (differs ? End::differs : End::unknown));
    if (agreed == tokens.size() && agreed > 0) REQUIRE(found.end == End::whole);
    pin(salt, first(tokens, pages.size() * page_), found.node);
  }

  // The beginning used longest ago that none continues.
  void evict() {
    auto oldest = known_.end();
    for (auto i = known_.begin(); i != known_.end(); ++i) {
      const auto continues = [&](const auto& other) {
        return other.first.first == i->first.first && other.first.second.size() > i->first.second.size() &&
               std::equal(i->first.second.begin(), i->first.second.end(), other.first.second.begin());
      };
      if (i->second.pins > 0 || std::any_of(known_.begin(), known_.end(), continues)) continue;
      if (oldest == known_.end() || i->second.used < oldest->second.used) oldest = i;
    }
    REQUIRE(tree_.evict() == (oldest != known_.end()));
    if (oldest == known_.end()) return;
    REQUIRE(holders_[oldest->second.page] == 0);
    known_.erase(oldest);
  }

  std::size_t page_;
  std::map<std::int32_t, int> holders_;  // outlives the tree, which lets go of its pages at the end
  PrefixTree tree_;
  std::mt19937 random_;
  Beginnings known_;
  std::vector<std::pair<std::pair<std::pmr::string, Tokens>, PrefixTree::Node*>> pinned_;
  std::int32_t next_page_ = 0;
  long now_ = 0;
};

TEST_CASE("a prefix tree and a plain list of beginnings know, forget and explain the same") {
  for (const int page : {1, 2, 3, 8}) {
    Twins twins(page, unsigned(page));
    for (int i = 0; i < 4000; ++i) {
      twins.step();
      if (i % 50 == 0) twins.check_holders();
    }
  }
}

TEST_CASE("different salts, adapters, rotations and cache types share nothing") {
  int held = 0;
  PrefixTree tree(2, {[&](std::int32_t) { ++held; }, [&](std::int32_t) { --held; }});
  const Tokens tokens = {1, 2, 3, 4};
  const PrefixTree::Pages pages = {7, 8};
  const PrefixKey key = {.salt = "s", .adapters = "a", .rotation = "r", .k_type = 1, .v_type = 1};
  tree.insert(key, tokens, pages);
  CHECK(tree.match(key, tokens).pages == pages);
  auto other = key;
  const auto differs = [&] { return tree.match(std::exchange(other, key), tokens).pages.empty(); };
  CHECK((other.salt = "t", differs()));
  CHECK((other.adapters = "b", differs()));
  CHECK((other.rotation = "q", differs()));
  CHECK((other.k_type = 8, differs()));
  CHECK((other.v_type = 8, differs()));
  while (tree.evict()) {
  }
  CHECK(held == 0);
}

TEST_CASE("a beginning that grows by a page at a time stays one run, however long") {
  PrefixTree tree(1, {[](std::int32_t) {}, [](std::int32_t) {}});
  Tokens tokens;
  PrefixTree::Pages pages;
  PrefixTree::Node* node = nullptr;
  for (int i = 0; i < 2000; ++i) {
    tokens.push_back(i), pages.push_back(i);
    tree.unpin(node);
    auto* longer = tree.insert({}, tokens, pages);
    if (node) CHECK(longer == node);
    tree.pin(node = longer);
  }
  CHECK_FALSE(tree.evict());
  tree.unpin(node);
  CHECK(tree.evict());
  CHECK(tree.match({}, tokens).pages.size() == 1999);
}

TEST_CASE("a state is found where it was kept, whatever grows and splits around it, and goes before its pages do") {
  std::map<std::int32_t, int> states;
  const auto nothing = [](std::int32_t) {};
  PrefixTree tree(2, {nothing, nothing, [&](std::int32_t s) { ++states[s]; }, [&](std::int32_t s) { --states[s]; }});
  const Tokens tokens = {1, 2, 3, 4, 5, 6, 7, 8};
  const PrefixTree::Pages pages = {1, 2, 3, 4};
  tree.insert({}, std::span(tokens).first(4), std::span(pages).first(2), 50);
  tree.insert({}, tokens, pages, 51);
  CHECK(tree.insert({}, std::span(tokens).first(4), std::span(pages).first(2), 52)->state == 50);
  CHECK(tree.match({}, tokens, true).node->state == 51);
  CHECK(tree.match({}, std::span(tokens).first(6), true).node->state == 50);
  CHECK(tree.match({}, std::span(tokens).first(6), true).pages.size() == 2);
  CHECK(tree.match({}, std::span(tokens).first(6), true).agreed == 6);
  CHECK(tree.known_pages({}, std::span(tokens).first(6), true).size() == 2);
  CHECK(tree.known_pages({}, std::span(tokens).first(3), true).empty());
  CHECK(tree.known_pages({}, tokens, true) == pages);
  CHECK(tree.match({}, std::span(tokens).first(3), true).node == nullptr);
  CHECK(tree.match({}, tokens, true).pages == pages);
  CHECK(tree.pages() == 4);
  CHECK(tree.evict_state());  // the longer beginning's: a beginning counts as used with all that continue it
  CHECK(states[51] == 0);
  CHECK(states[50] == 1);
  CHECK(tree.pages() == 2);  // pages without a state serve nobody
  CHECK(tree.evict());
  CHECK(states[50] == 0);
  CHECK(tree.evict());
  CHECK_FALSE(tree.evict());
  CHECK_FALSE(tree.evict_state());
  CHECK(states[52] == 0);
}

}  // namespace
