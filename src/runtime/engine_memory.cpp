// What sequences hold of the pools: taken, shared, copied, given back, and brought back from the disk.
#include <algorithm>
#include <utility>

#include "runtime/change.hpp"
#include "runtime/engine.hpp"

namespace inlay::runtime {

void Engine::append_page(std::pmr::vector<std::int32_t>& pages) const {
  pages.push_back(caches_->pages().acquire(pages.empty() ? -1 : pages.back()));  // its capacity is there
}

void Engine::own_pages(const Reading& reading, Change& change) {
  if (!caches_->has_pages()) return;
  auto& sequence = *reading.sequence;
  const auto page = std::size_t(caches_->page()), length = sequence.cached + std::size_t(reading.rows());
  for (auto i = (sequence.cached - std::size_t(reading.shared)) / page; i * page < length; ++i) {
    if (i >= sequence.pages.size())
      change.append(sequence);
    else
      change.own(sequence, i);
  }
}

void Engine::own_slot(Sequence& sequence) {
  if (!caches_->has_states()) return;
  auto& slots = caches_->slots();
  if (sequence.slot >= 0)
    if (const auto own = slots.own(sequence.slot); own != sequence.slot)
      slots.release(std::exchange(sequence.slot, own));
  if (sequence.slot < 0) {
    const std::pmr::vector<std::byte> zeros(slots.block_bytes(), memory());
    sequence.slot = slots.acquire();
    device_->table().upload(device_->handle(), slots.address(sequence.slot), zeros.data(), zeros.size());
  }
}

void Engine::take_memory(Sequence& sequence) {
  std::lock_guard guard(memory_);
  if (caches_->has_pages()) {
    const auto page = std::size_t(caches_->page()), needed = (sequence.cached + page - 1) / page;
    sequence.pages.reserve(needed);
    while (sequence.pages.size() < needed) append_page(sequence.pages);
  }
  if (sequence.cached > 0) own_slot(sequence);
}

void Engine::copy_pages(const Sequence& from, Sequence& to) {
  auto& pool = caches_->pages();
  to.pages.clear();
  try {
    for (const auto page : from.pages) to.pages.push_back(pool.copy(page, to.pages.empty() ? -1 : to.pages.back()));
  } catch (...) {
    for (; !to.pages.empty(); to.pages.pop_back()) pool.release(to.pages.back());
    throw;
  }
}

Sequence Engine::fork(const Sequence& from) {
  Sequence copy = from.in(memory());
  std::lock_guard guard(memory_);
  if (caches_->shares_pages())
    for (const auto page : copy.pages) caches_->pages().share(page);
  else
    copy_pages(from, copy);
  if (prefixes_) prefixes_->pin(copy.branch);
  if (copy.slot >= 0) caches_->slots().share(copy.slot);
  return copy;
}

void Engine::rewind(Sequence& sequence, std::size_t length) noexcept {
  sequence.tokens.resize(std::min(length, sequence.tokens.size()));
  read_again(sequence, length);
}

void Engine::read_again(Sequence& sequence, std::size_t first) noexcept {
  std::lock_guard guard(memory_);
  if (sequence.cached > first) forget(sequence, caches_->has_states() ? 0 : first);
}

void Engine::forget(Sequence& sequence, std::size_t length) noexcept {
  branch_at(sequence, nullptr);
  sequence.cached = length;
  sequence.shareable |= length == 0;
  keep_pages(sequence);
  if (length == 0 && sequence.slot >= 0) caches_->slots().release(std::exchange(sequence.slot, -1));
}

void Engine::keep_pages(Sequence& sequence) noexcept {
  const auto page = std::size_t(caches_->page()), needed = (sequence.cached + page - 1) / page;
  for (; sequence.pages.size() > needed; sequence.pages.pop_back()) caches_->pages().release(sequence.pages.back());
}

void Engine::trim() noexcept {
  std::lock_guard turn(turn_);
  std::lock_guard guard(memory_);
  while (prefixes_ && prefixes_->evict()) {
  }
  if (caches_->has_pages()) caches_->pages().trim();
  if (caches_->has_states()) caches_->slots().trim();
}

void Engine::warm(std::size_t wanted, std::size_t most) noexcept {
  std::lock_guard guard(memory_);
  if (!caches_->has_pages()) return;
  while (most-- > 0) caches_->pages().warm(wanted);
}

Engine::Room Engine::room() noexcept {
  std::lock_guard guard(memory_);
  Room room;
  if (caches_->has_pages()) room.pages = caches_->pages().capacity() - caches_->pages().used();
  if (caches_->has_states()) room.slots = caches_->slots().capacity() - caches_->slots().used();
  // What only the prefix tree holds gives way.
  if (prefixes_)
    prefixes_->each_node([&](const PrefixTree::Node& node) {
      for (const auto page : node.pages) room.pages += page >= 0 && caches_->pages().holders(page) == 1;
      room.slots += node.state >= 0 && caches_->slots().holders(node.state) == 1;
    });
  return room;
}

std::size_t Engine::bring_back(Pool& pool, std::span<const std::int32_t> blocks) {
  std::lock_guard guard(memory_);
  for (std::size_t i = 0; i < blocks.size(); ++i) try {
      pool.bring_back(blocks[i]);
    } catch (const Error& error) {
      if (error.code() != Errc::io) throw;
      device_->warn(error.what());
      return i;
    }
  return blocks.size();
}

void Engine::wake(Sequence& sequence) {
  if (!caches_->tiered()) return;
  if (const auto source = sequence.source)
    if (bring_back(caches_->pages(), source->pages) < source->pages.size())
      sequence.source = read_source(source->tokens);
  const auto pages = sequence.pages.empty() ? 0 : bring_back(caches_->pages(), sequence.pages);
  const bool state = sequence.slot < 0 || bring_back(caches_->slots(), {&sequence.slot, 1}) == 1;
  if (pages == sequence.pages.size() && state) return;
  std::lock_guard guard(memory_);
  forget(sequence, keeps_states() ? 0 : std::min(sequence.cached, pages * std::size_t(caches_->page())));
}

}  // namespace inlay::runtime
