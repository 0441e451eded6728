// Which id has this text? A hash table over texts that stay where they are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <functional>
#include <memory_resource>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace inlay::text {

class TokenTable {
 public:
  explicit TokenTable(std::pmr::memory_resource* memory) : slots_(1, memory) {}
  // texts[id]; they must outlive the table, at this address.
  TokenTable(std::span<const std::string_view> texts, std::pmr::memory_resource* memory)
      : texts_(texts), slots_(std::bit_ceil(texts.size() + texts.size() / 2 + 1), memory) {}

  // False, and nothing changed, where another id has the same text.
  bool insert(TokenId id) {
    const std::uint64_t hash = hash_of(text(id));
    Slot& slot = slots_[place(text(id), hash)];
    if (slot.id >= 0) return false;
    slot = {tag(hash), id};
    return true;
  }

  std::optional<TokenId> find(std::string_view wanted) const {
    const Slot& slot = slots_[place(wanted, hash_of(wanted))];
    return slot.id >= 0 ? std::optional(slot.id) : std::nullopt;
  }

  // Asks for the memory that find() will read, for up to `batch` texts side by side: waiting for it one by one is most
  // of what loading a large vocabulary takes.
  static constexpr std::size_t batch = 64;
  void fetch(std::span<const std::string_view> wanted) const {
    std::array<const Slot*, batch> slots;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      slots[i] = &slots_[hash_of(wanted[i]) & (slots_.size() - 1)];
      __builtin_prefetch(slots[i]);
    }
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (slots[i]->id >= 0) __builtin_prefetch(&texts_[static_cast<std::size_t>(slots[i]->id)]);
    for (std::size_t i = 0; i < wanted.size(); ++i)
      if (slots[i]->id >= 0) __builtin_prefetch(text(slots[i]->id).data());
  }

 private:
  struct Slot {
    std::uint32_t tag = 0;
    TokenId id = -1;  // -1: free
  };

  static std::uint64_t hash_of(std::string_view text) { return std::hash<std::string_view>{}(text); }
  static std::uint32_t tag(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 16); }
  std::string_view text(TokenId id) const { return texts_[static_cast<std::size_t>(id)]; }

  // Where the text is, or the free slot where it would be: a third of the slots stays free.
  std::size_t place(std::string_view wanted, std::uint64_t hash) const {
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t at = hash & mask;; at = (at + 1) & mask) {
      const Slot& slot = slots_[at];
      if (slot.id < 0 || (slot.tag == tag(hash) && text(slot.id) == wanted)) return at;
    }
  }

  std::span<const std::string_view> texts_;
  std::pmr::vector<Slot> slots_;
};

}  // namespace inlay::text
