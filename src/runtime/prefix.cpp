// Finding, keeping and forgetting runs of tokens in the tree.
#include "runtime/prefix.hpp"

#include <cassert>

#include "base/memory.hpp"

namespace inlay::runtime {

namespace {

std::size_t in_common(std::span<const TokenId> a, std::span<const TokenId> b) noexcept {
  return std::size_t(std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin());
}

}  // namespace

PrefixTree::~PrefixTree() {
  while (Node* node = newest_) {
    drop_state(*node);
    std::for_each(node->pages.begin(), node->pages.end(), owner_.drop_page);
    end(*node);
  }
}

PrefixTree::Match PrefixTree::match(const PrefixKey& key, std::span<const TokenId> tokens, bool with_state) {
  Match match{.pages = Pages(memory_)};
  std::size_t pages = 0;
  const auto root = roots_.find(key);
  if (root == roots_.end()) return match;
  for (Node* at = &root->second;;) {
    const auto rest = tokens.subspan(match.agreed);
    Node* next = nearest(*at, rest);
    if (!next) break;
    const auto common = in_common(next->run, rest), whole = common / page_ * page_;
    match.agreed += common;
    match.end = common == rest.size() ? End::whole : common < next->run.size() ? End::differs : End::unknown;
    if (whole == 0) break;
    if (whole < next->run.size()) next = split(next, whole);
    match.pages.insert(match.pages.end(), next->pages.begin(), next->pages.end());
    at = next;
    if (!with_state || next->state >= 0) match.node = next, pages = match.pages.size();
    if (common > whole) break;
  }
  match.pages.resize(pages);
  touch(match.node);
  return match;
}

PrefixTree::Pages PrefixTree::known_pages(const PrefixKey& key, std::span<const TokenId> tokens,
                                          bool with_state) const {
  Pages found(memory_);
  std::size_t sure = 0;
  const auto root = roots_.find(key);
  if (root == roots_.end()) return found;
  for (const Node* at = &root->second; tokens.size() >= page_;) {
    const auto child = at->children.find(tokens);
    if (child == at->children.end()) break;
    at = *child;
    const auto pages = in_common(at->run, tokens) / page_;
    found.insert(found.end(), at->pages.begin(), at->pages.begin() + std::ptrdiff_t(pages));
    if (!with_state || (at->state >= 0 && pages == at->pages.size())) sure = found.size();
    if (pages < at->pages.size()) break;
    tokens = tokens.subspan(pages * page_);
  }
  found.resize(sure);
  return found;
}

PrefixTree::Node* PrefixTree::insert(const PrefixKey& key, std::span<const TokenId> tokens,
                                     std::span<const std::int32_t> pages, std::int32_t state) {
  assert(tokens.size() == pages.size() * page_);
  if (tokens.empty()) return nullptr;
  Node* at = root(key);
  while (!tokens.empty()) {
    const auto found = at->children.find(tokens);
    if (found == at->children.end()) {
      at = extend(at, tokens, pages);
      break;
    }
    const auto common = in_common((*found)->run, tokens) / page_ * page_;
    at = common < (*found)->run.size() ? split(*found, common) : *found;
    tokens = tokens.subspan(common), pages = pages.subspan(common / page_);
  }
  touch(at);
  if (state >= 0 && at->state < 0) owner_.hold_state(at->state = state);
  return at;
}

bool PrefixTree::evict() noexcept {
  for (Node* i = oldest_; i; i = i->newer) {
    if (i->pins > 0 || !i->children.empty()) continue;
    const auto page = i->pages.back();
    drop_state(*i);
    if (i->pages.size() == 1) {
      remove(*i);
    } else {
      i->pages.pop_back();
      i->run.resize(i->run.size() - page_);
    }
    --pages_;
    owner_.drop_page(page);
    return true;
  }
  return false;
}

bool PrefixTree::evict_state() noexcept {
  Node* found = oldest_;
  while (found && found->state < 0) found = found->newer;
  if (!found) return false;
  drop_state(*found);
  prune(found);
  return true;
}

PrefixTree::Node* PrefixTree::root(const PrefixKey& key) {
  const auto [found, made] = roots_.try_emplace(key.in(memory_), page_, memory_);
  if (made) found->second.key = &found->first;
  return &found->second;
}

// The child that has most tokens in common with these; among sorted runs it is a neighbour of where they would stand.
PrefixTree::Node* PrefixTree::nearest(const Node& node, std::span<const TokenId> tokens) const {
  const auto after = node.children.lower_bound(tokens);
  Node* best = after == node.children.end() ? nullptr : *after;
  if (after == node.children.begin()) return best;
  Node* before = *std::prev(after);
  return !best || in_common(before->run, tokens) > in_common(best->run, tokens) ? before : best;
}

// A root that an exception left without children is harmless: the next insert finds it.
PrefixTree::Node* PrefixTree::extend(Node* at, std::span<const TokenId> tokens, std::span<const std::int32_t> pages) {
  if (at->parent && at->children.empty() && at->pins == 0 && at->state < 0) {
    at->pages.reserve(at->pages.size() + pages.size());
    at->run.insert(at->run.end(), tokens.begin(), tokens.end());
  } else {
    auto made = base::make<Node>(memory_, page_, memory_);
    Node& child = *made;
    child.run.assign(tokens.begin(), tokens.end());
    child.pages.reserve(pages.size());
    child.parent = at;
    at->children.insert(&child);
    put_in(*made.release(), nullptr);
    at = &child;
  }
  at->pages.insert(at->pages.end(), pages.begin(), pages.end());
  std::for_each(pages.begin(), pages.end(), owner_.hold_page);
  pages_ += pages.size();
  return at;
}

// Makes a node of the first `length` tokens, before this one, which keeps the rest and its pins.
PrefixTree::Node* PrefixTree::split(Node* node, std::size_t length) {
  auto made = base::make<Node>(memory_, page_, memory_);
  Node& upper = *made;
  const auto cut = std::ptrdiff_t(length), page_cut = std::ptrdiff_t(length / page_);
  std::pmr::vector<TokenId> run(node->run.begin() + cut, node->run.end(), memory_);
  std::pmr::vector<std::int32_t> pages(node->pages.begin() + page_cut, node->pages.end(), memory_);
  upper.children.insert(node);
  auto place = node->parent->children.extract(node);  // nothing throws from here on
  node->run.resize(length), node->pages.resize(length / page_);
  upper.run.swap(node->run), upper.pages.swap(node->pages);
  node->run.swap(run), node->pages.swap(pages);
  upper.parent = node->parent, node->parent = &upper;
  place.value() = &upper;
  upper.parent->children.insert(std::move(place));
  put_in(*made.release(), node);
  return &upper;
}

void PrefixTree::drop_state(Node& node) noexcept {
  if (node.state >= 0) owner_.drop_state(std::exchange(node.state, -1));
}

// Removes a leaf without a state, and those before it that become one.
void PrefixTree::prune(Node* node) noexcept {
  while (node->parent && node->children.empty() && node->pins == 0 && node->state < 0) {
    Node* parent = node->parent;
    const bool last = !parent->parent && parent->children.size() == 1;  // its root goes with it
    pages_ -= node->pages.size();
    std::for_each(node->pages.begin(), node->pages.end(), owner_.drop_page);
    remove(*node);
    if (last) return;
    node = parent;
  }
}

void PrefixTree::remove(Node& node) noexcept {
  Node& parent = *node.parent;
  parent.children.erase(&node);
  end(node);
  if (parent.key && parent.children.empty()) roots_.erase(roots_.find(*parent.key));
}

void PrefixTree::end(Node& node) noexcept {
  take_out(node);
  base::Release{memory_, &node, sizeof(Node), alignof(Node)}(&node);
}

// Puts a node among the others in the order of use, just newer than one of them; null: as the newest.
void PrefixTree::put_in(Node& node, Node* older) noexcept {
  node.older = older ? older : newest_;
  node.newer = older ? older->newer : nullptr;
  (node.older ? node.older->newer : oldest_) = &node;
  (node.newer ? node.newer->older : newest_) = &node;
}

void PrefixTree::take_out(Node& node) noexcept {
  (node.older ? node.older->newer : oldest_) = node.newer;
  (node.newer ? node.newer->older : newest_) = node.older;
}

// Ancestors come before descendants, so that what was not used for longest is a leaf.
void PrefixTree::touch(Node* node) noexcept {
  for (; node && node->parent; node = node->parent) take_out(*node), put_in(*node, nullptr);
}

}  // namespace inlay::runtime
