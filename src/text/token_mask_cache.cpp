// The masks that a grammar's states have had before: two generations, of which the older is dropped when the younger is
// full, so that what is used stays.
#include "text/token_mask_cache.hpp"

#include <utility>

#include "base/memory.hpp"

namespace inlay::text {
namespace {

constexpr std::size_t most_bytes = 16u << 20;  // of each generation

std::size_t bytes_of(const std::pmr::vector<ConditionalTokens>& sometimes) {
  std::size_t total = sometimes.capacity() * sizeof(ConditionalTokens);
  for (const auto& [when, tokens] : sometimes) total += tokens->bytes();
  return total;
}

// A mask of the older generation moves to the younger when it is asked for.
template <typename Map>
auto find_in(Map& young, Map& old, const MaskCache::Key& key, std::size_t& bytes) -> typename Map::mapped_type {
  if (const auto at = young.find(key); at != young.end()) return at->second;
  auto node = old.extract(key);
  if (node.empty()) return nullptr;
  bytes += node.mapped()->bytes();
  return young.insert(std::move(node)).position->second;
}

}  // namespace

std::size_t LocalMask::bytes() const {
  return sizeof(LocalMask) + always.bytes() + bytes_of(sometimes) + loose.capacity() * sizeof(Loose);
}

std::size_t ThreadMask::bytes() const { return sizeof(ThreadMask) + always.bytes() + bytes_of(sometimes); }

std::size_t MaskCache::Hash::operator()(const Key& key) const {
  std::uint64_t hash = key.size();
  for (const std::uint32_t word : key) hash = (hash ^ word) * 0x9E3779B97F4A7C15u, hash ^= hash >> 32;
  return static_cast<std::size_t>(hash);
}

std::shared_ptr<const LocalMask> SharedMasks::find(std::string_view meaning) {
  const std::lock_guard lock(mutex_);
  const auto at = masks_.find(meaning);
  return at == masks_.end() ? nullptr : at->second;
}

void SharedMasks::keep(std::string_view meaning, std::shared_ptr<const LocalMask> mask) {
  constexpr std::size_t most_masks = 64;
  const std::lock_guard lock(mutex_);
  if (masks_.size() < most_masks) masks_.emplace(meaning, std::move(mask));
}

// What is known of a grammar that is no more goes when another is met.
std::shared_ptr<MaskCache> MaskCaches::of(const std::shared_ptr<const GrammarRules>& rules) {
  const std::lock_guard lock(mutex_);
  const auto at = caches_.find(rules.get());
  if (at != caches_.end()) return at->second.masks;  // the address is taken as long as it is watched
  std::erase_if(caches_, [](const auto& known) { return known.second.rules.expired(); });
  auto* const memory = caches_.get_allocator().resource();
  auto masks = base::make_shared<MaskCache>(memory, memory);
  caches_.emplace(rules.get(), Known{rules, masks});
  return masks;
}

void MaskCache::make_room() {
  if (young_.bytes <= most_bytes) return;
  old_ = std::exchange(young_, Generation(young_.locals.get_allocator().resource()));
}

std::shared_ptr<const LocalMask> MaskCache::find_local(const Key& key) {
  const std::lock_guard lock(mutex_);
  return find_in(young_.locals, old_.locals, key, young_.bytes);
}

std::shared_ptr<const ThreadMask> MaskCache::find_thread(const Key& key) {
  const std::lock_guard lock(mutex_);
  return find_in(young_.threads, old_.threads, key, young_.bytes);
}

void MaskCache::keep(Key key, std::shared_ptr<const LocalMask> mask) {
  const std::lock_guard lock(mutex_);
  young_.bytes += mask->bytes() + key.size() * 4;
  young_.locals.insert_or_assign(std::move(key), std::move(mask));
  make_room();
}

void MaskCache::keep(Key key, std::shared_ptr<const ThreadMask> mask) {
  const std::lock_guard lock(mutex_);
  young_.bytes += mask->bytes() + key.size() * 4;
  young_.threads.insert_or_assign(std::move(key), std::move(mask));
  make_room();
}

}  // namespace inlay::text
