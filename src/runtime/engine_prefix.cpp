// What an engine's sequences share through its prefix tree: pages go there as they are filled, and come back to others.
#include <algorithm>

#include "runtime/engine.hpp"

namespace inlay::runtime {

void Engine::share_prefixes() {
  PrefixTree::Owner owner{[](std::int32_t) {}, [](std::int32_t) {}};
  if (caches_->has_pages()) {
    auto& pages = caches_->pages();
    owner.hold_page = [&pages](std::int32_t page) { pages.share(page); };
    owner.drop_page = [&pages](std::int32_t page) { pages.release(page); };
    pages.when_full([this] { return prefixes_->evict(); });
  }
  if (caches_->has_states()) {
    auto& slots = caches_->slots();
    owner.hold_state = [&slots](std::int32_t slot) { slots.share(slot); };
    owner.drop_state = [&slots](std::int32_t slot) { slots.release(slot); };
    slots.when_full([this] { return prefixes_->evict_state(); });
  }
  prefixes_ = base::make<PrefixTree>(memory(), caches_->page(), std::move(owner), memory());
}

PrefixKey Engine::key_of(const Sequence& sequence) const {
  PrefixKey key{.salt = {sequence.salt, memory()}};
  for (const auto& cache : caches_->keys_values())
    if (cache.size) key.k_type = cache.k_type, key.v_type = cache.v_type;
  return key;
}

void Engine::branch_at(Sequence& sequence, PrefixTree::Node* node) noexcept {
  if (!prefixes_) return;
  prefixes_->pin(node);
  prefixes_->unpin(std::exchange(sequence.branch, node));
}

// Gives the pages that this step has filled to the tree, and the state where it has read a prompt up to the end of a
// page. Without memory for that, nobody will share them.
void Engine::remember(std::span<const Reading> readings) noexcept {
  if (!prefixes_) return;
  std::lock_guard guard(memory_);
  const auto page = std::size_t(caches_->page());
  for (const auto& reading : readings) {
    auto& sequence = *reading.sequence;
    const auto full = sequence.cached / page;
    if (!sequence.shareable || full == (sequence.cached - std::size_t(reading.count)) / page) continue;
    const bool of_prompt = reading.count > 1 || sequence.cached < sequence.tokens.size();
    const bool checkpoint = sequence.slot >= 0 && of_prompt && full * page == sequence.cached;
    if (sequence.slot >= 0 && !checkpoint) continue;  // pages without a state serve nobody
    branch_at(sequence, nullptr);                     // so that a run only this sequence holds may grow
    try {
      const auto held = sequence.pages.begin() + std::ptrdiff_t(std::min(full, sequence.pages.size()));
      PrefixTree::Pages pages(sequence.pages.begin(), held, memory());
      pages.resize(full, -1);  // of a model that has states only
      branch_at(sequence, prefixes_->insert(key_of(sequence), std::span(sequence.tokens).first(full * page), pages,
                                            checkpoint ? sequence.slot : -1));
    } catch (const std::bad_alloc&) {
    }
  }
}

std::size_t Engine::end_of_chunk(const Sequence& sequence) const noexcept {
  const auto begin = sequence.cached, size = sequence.tokens.size(), page = std::size_t(caches_->page());
  if (looks_ahead()) return size;
  const auto end = std::min(size, begin + std::size_t(chunk_tokens)), cut = (size - 1) / page * page;
  return prefixes_ && caches_->has_states() && sequence.shareable && begin < cut && cut < end ? cut : end;
}

Reuse Engine::reuse(Sequence& sequence, std::size_t most) try {
  const auto page = std::size_t(caches_->page());
  if (!sequence.shareable || most / page <= sequence.cached / page) return {};  // no whole page could be spared
  if (!prefixes_) return {.end = ReuseEnd::off};
  std::lock_guard guard(memory_);
  const bool states = caches_->has_states();
  const auto match = prefixes_->match(key_of(sequence), std::span(sequence.tokens).first(most), states);
  const Reuse found{.end = states && match.agreed >= (match.pages.size() + 1) * page ? ReuseEnd::no_state
                           : match.end == PrefixTree::End::whole                     ? ReuseEnd::whole
                           : match.end == PrefixTree::End::differs                   ? ReuseEnd::differs
                                                                                     : ReuseEnd::unknown,
                    .agreed = match.agreed,
                    .read = match.pages.size() * page};
  if (found.read > sequence.cached) take_over(sequence, match);
  return found;
} catch (const std::bad_alloc&) {  // what is known can be read again
  return {};
}

Engine::Known Engine::known(const Sequence& sequence, std::size_t most) {
  const Known held{sequence.cached, sequence.pages.size()};
  if (!shares(sequence)) return held;
  std::lock_guard guard(memory_);
  const auto pages = prefixes_->known_pages(key_of(sequence), std::span(sequence.tokens).first(most), keeps_states());
  const auto tokens = pages.size() * std::size_t(caches_->page());
  if (tokens <= sequence.cached) return held;
  const auto others_hold = [&](std::int32_t page) { return page >= 0 && caches_->pages().holders(page) > 1; };
  return {tokens, std::size_t(std::count_if(pages.begin(), pages.end(), others_hold))};
}

std::size_t Engine::releasable(const Sequence& sequence) {
  std::lock_guard guard(memory_);
  const int most = shares(sequence) ? 2 : 1;  // itself, and the tree
  return std::size_t(std::count_if(sequence.pages.begin(), sequence.pages.end(),
                                   [&](std::int32_t page) { return caches_->pages().holders(page) <= most; }));
}

void Engine::take_over(Sequence& sequence, const PrefixTree::Match& match) {
  if (caches_->has_pages()) {
    sequence.pages.reserve(match.pages.size());  // nothing throws from here on
    for (const auto page : match.pages) caches_->pages().share(page);
    for (const auto page : sequence.pages) caches_->pages().release(page);
    sequence.pages.assign(match.pages.begin(), match.pages.end());
  }
  if (caches_->has_states()) {
    caches_->slots().share(match.node->state);
    if (sequence.slot >= 0) caches_->slots().release(sequence.slot);
    sequence.slot = match.node->state;
  }
  sequence.cached = match.pages.size() * std::size_t(caches_->page());
  branch_at(sequence, match.node);
}

}  // namespace inlay::runtime
